"""``python -m tools.seal_checker``: write the SHA-256 of the checker's other files into the first, which runs no others.

``--check`` only says whether they are there; a test holds that.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "src" / "noisewright" / "certificates" / "checker"
CLAIMS = Path(__file__).parents[1] / "src" / "noisewright" / "claims"
SEALED = {
    "SECOND_FILE": FOLDER / "checker_noise.py",
    "RELEASE_FILE": FOLDER / "checker_release.py",
    "WORDS_FILE": FOLDER / "checker_words.py",
    "EARLIER_FILE": FOLDER / "checker_version1.py",
    "PHRASES_FILE": CLAIMS / "phrases.py",
}


def sealed(text: str) -> str:
    """The text of ``checker.py`` with the digests of the files as they are."""
    for constant, path in SEALED.items():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        text, found = re.subn(f'    {constant}: "[0-9a-f]{{64}}",\n', f'    {constant}: "{digest}",\n', text)
        if found != 1:
            raise SystemExit(f"checker.py has no line for the digest of {path.name}.")
    return text


def main(arguments: list[str]) -> int:
    """0 if the digests are in place now."""
    first = FOLDER / "checker.py"
    before = first.read_text(encoding="utf-8")
    after = sealed(before)
    if "--check" in arguments:
        return int(before != after)
    if before != after:
        first.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
