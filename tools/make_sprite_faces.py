"""Makes ``sprites.png`` and ``sprites.json`` of ``images/data`` with npm and node.  Run:  python tools/make_sprite_faces.py

Faces are drawn by ``sprite_faces.mjs``; their licence is in ``data/NOTICE``. The sheet has one row for each person and one column
for each expression; the other file has the outline of every head. Both are the same on every machine.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from noisewright.images.faces.public_faces import EXPRESSIONS, OUTLINES, PEOPLE, SHEET, SIDE
from noisewright.images.pictures import pillow

PACKAGES = ("facesjs@5.0.3", "@resvg/resvg-js@2.6.2")
SEED = 1


def main() -> None:
    """Draw all faces, and put them on one sheet."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "package.json").write_text('{"type": "module"}', encoding="utf-8")
        subprocess.run(["npm", "install", "--silent", *PACKAGES], cwd=folder, check=True)
        script = shutil.copy(Path(__file__).with_name("sprite_faces.mjs"), folder)
        command = ["node", script, *map(str, (PEOPLE, SIDE, SEED)), str(OUTLINES)]
        drawn = subprocess.run(command, cwd=folder, check=True, capture_output=True).stdout
    faces = np.frombuffer(drawn, np.uint8).reshape(PEOPLE, len(EXPRESSIONS), SIDE, SIDE, 3)
    sheet = faces.transpose(0, 2, 1, 3, 4).reshape(PEOPLE * SIDE, len(EXPRESSIONS) * SIDE, 3)
    pillow("Image").fromarray(sheet).save(SHEET, optimize=True)
    print(f"{SHEET.name}: {SHEET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
