"""Makes ``noise_support`` importable however the tests are collected, and in spawned workers."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
