"""What a package index needs beside what is in the repository: where the project lives, and links that work away from it.

The address is not written into the sources, because a copy of them may live elsewhere. It is given where packages are built, and
goes into a copy of the project: its URLs into the metadata, and before every link and picture of the README.

Run:  python -m tools.package https://example.org/noisewright COPY    and then build the folder COPY.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("src", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md")
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")


def absolute(text: str, home: str) -> str:
    """A page whose links and pictures lead to a home: pages under ``blob``, pictures as they are under ``raw``.

    >>> absolute("![a](b.png) and [c](d.md#e), [f](https://g.org)", "https://h.org/i")
    '![a](https://h.org/i/raw/main/b.png) and [c](https://h.org/i/blob/main/d.md#e), [f](https://g.org)'
    """
    return LINK.sub(lambda m: f"{m[1]}[{m[2]}]({home}/{'raw' if m[1] else 'blob'}/main/{m[3]})", text)


def with_urls(project: str, home: str) -> str:
    """The ``pyproject.toml`` with the addresses of the project."""
    urls = {
        "Homepage": home,
        "Documentation": f"{home}/blob/main/docs/index.md",
        "Changelog": f"{home}/blob/main/CHANGELOG.md",
        "Issues": f"{home}/issues",
    }
    lines = "".join(f'{name} = "{address}"\n' for name, address in urls.items())
    return project.replace("[project.scripts]\n", f"[project.urls]\n{lines}\n[project.scripts]\n", 1)


def main(home: str, copy: str) -> None:
    home, target = home.rstrip("/"), Path(copy)
    if not home.startswith("https://"):
        raise SystemExit("the home of the project must be an address that begins with https://.")
    if target.exists():
        raise SystemExit(f"{target} is there already; name a new folder.")
    target.mkdir(parents=True)
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        else:
            shutil.copy(source, target / name)
    (target / "README.md").write_text(
        absolute((ROOT / "README.md").read_text(encoding="utf-8"), home), encoding="utf-8"
    )
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (target / "pyproject.toml").write_text(with_urls(project, home), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
