"""Counts of the ranges that were tried against a table.

A plan is free, and says whether a value of the table lies outside of the typed range. Anyone who tries ranges until
none does finds the largest value, which the policy then publishes. Therefore the studio counts the ranges that were
tried, and says it.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from noisewright._utils.inputs import read_input
from noisewright.claims.figures import upward
from noisewright.engines.base import engine_for
from noisewright.exceptions import BudgetError, FileFormatError, NoisewrightError
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import downward
from noisewright.planning.columns import source_for
from noisewright.policy.policy import Policy
from noisewright.releases.certificate import REPORT, certificate_bytes, examined
from noisewright.releases.checks import turn
from noisewright.releases.folder import mend_unfinished
from noisewright.releases.lock import LOCK, Lock, References, content_digest
from noisewright.releases.plan import Plan
from noisewright.releases.policy_template import starting_policy
from noisewright.releases.release import new_id, plan, plan_for, release
from noisewright.releases.staging import clean
from noisewright.studio.services.policies import EMBEDDING, EXAMPLES, Column, Form, policy_text, starting_form
from noisewright.studio.sessions import Task, digest_of, releases_folder
from noisewright.text.embedding import COMES_ALONG

__all__ = [
    "ID",
    "MOST_TRIES",
    "TABLES",
    "Gauge",
    "Given",
    "Kept",
    "Released",
    "code_of",
    "commands_of",
    "find_kept",
    "free_bytes",
    "gauge_of",
    "given_example",
    "given_table",
    "home_of",
    "kept_of",
    "make_release",
    "note_tries",
    "planned",
    "planned_apart",
    "read_apart",
    "shown_again",
    "stamp_of",
    "too_many",
    "tries",
    "zipped",
]


MOST_TRIES = 2
"""A range is typed, and corrected once; more is a search."""
_tried: dict[tuple[str, tuple[str, ...]], set[tuple[str, str]]] = {}


def note_tries(table: str, form: Form) -> None:
    """Remember that the ranges of a form were tried against a table, which is named by its digest or its path."""
    for column in form.columns:
        ends = (column.value("low").strip(), column.value("high").strip())
        if column.protected and all(ends) and column.value("outside") != "clamp":
            _tried.setdefault((table, column.names), set()).add(ends)


def tries(table: str, column: Column) -> int:
    """Count the ranges of a column that were tried against a table."""
    return len(_tried.get((table, column.names), ()))


def too_many(table: str, column: Column) -> str:
    """Word the warning for the range of a column; return an empty text while few were tried."""
    count = tries(table, column)
    if count <= MOST_TRIES:
        return ""
    return (
        f"{count} ranges of {column.title} were tried against the data. Each answer says whether a value lies outside, so a "
        "range that was found by trying tells values of people, and the policy publishes it. Type the range that is public."
    )


# Kept ---------------------------------------------------------------------------------------------------------------------
#
# Releases that are kept: a folder that stays, with a folder for each dataset, and in it one for each release by its id.
#
# A release is paid for once and cannot be made again for nothing, so its table does not go with the page that made it.
# The folder
# of a release is what ``noisewright release`` writes, and its name is the id that the ledger has. The policy lies next to it.


ID = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}")
"""Ids of releases as the library makes them up."""
NAME = re.compile(rf"({ID.pattern})(?:-[a-z0-9-]{{1,10}})?")
"""The name of a folder: an id, and for a copy in another format that format."""
LONGEST = 60


@dataclass(frozen=True)
class Kept:
    """A release in the folder that stays."""

    folder: Path
    dataset: str

    @property
    def name(self) -> str:
        """The name of its folder: its id, and the format of a copy."""
        return self.folder.name

    @property
    def release_id(self) -> str:
        """The id that its ledger has."""
        found = NAME.fullmatch(self.name)
        return found[1] if found else self.name

    @property
    def time(self) -> str:
        """Time at which it was made, in UTC."""
        at = self.release_id
        return f"{at[:4]}-{at[4:6]}-{at[6:8]} {at[9:11]}:{at[11:13]}"

    @property
    def format(self) -> str:
        """The format of its table; nothing if there are only answers."""
        return next((path.name.partition(".")[2] for path in sorted(self.folder.glob("data.*"))), "")


def home_of(root: str | os.PathLike[str], dataset: str) -> Path:
    """Make the folder for the releases of a dataset, which only this account can read.

    What jobs that are gone left half written in it is deleted; what was complete is left to the next release of the same data.
    """
    home = Path(root) / (re.sub(r"[^A-Za-z0-9_-]+", "-", dataset).strip("-")[:LONGEST] or "dataset")
    try:
        missing = [folder for folder in (home, *home.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        home.chmod(0o700)
        for path in home.glob(".*.staging"):
            if not (path / LOCK).exists():
                clean(home / path.name[1:].partition(".")[0])
    except OSError as problem:
        raise FileFormatError(
            f"{home} cannot be made ({problem.strerror or 'the disk refused'}); name another folder with --releases."
        ) from None
    return home


def kept_of(ledger: str) -> list[Kept]:
    """The kept releases that a ledger has by their ids, the latest first."""
    if not os.path.exists(ledger):
        return []
    book = Ledger(ledger, create_missing=False)
    known = {entry.release_id: entry.dataset for name in book.datasets() for entry in book.entries(name)}
    found = []
    for lock in releases_folder().glob(f"*/*/{LOCK}"):
        match = NAME.fullmatch(lock.parent.name)
        if match is not None and match[1] in known:
            found.append(Kept(lock.parent, known[match[1]]))
    return sorted(found, key=lambda one: one.name, reverse=True)


def find_kept(name: str) -> Kept | None:
    """The release that has this name in the folder that stays, which a link or a ledger states."""
    if NAME.fullmatch(name) is None:
        return None
    return next(
        (Kept(lock.parent, lock.parent.parent.name) for lock in releases_folder().glob(f"*/{name}/{LOCK}")), None
    )


def zipped(folder: Path, target: Path) -> Path:
    """Everything of a release in one file: its folder as it is, the policy next to it, and the public vectors that it needs."""
    if not (folder / LOCK).is_file():
        raise FileFormatError(f"{folder} does not hold a release any more; put it back from a copy.")
    policy = ""
    with suppress(OSError):
        policy = read_input(folder.with_suffix(".toml")).decode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        if policy:
            archive.writestr("policy.toml", policy)
        if EMBEDDING in policy:
            archive.write(COMES_ALONG / EMBEDDING, EMBEDDING)
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, Path("release") / file.relative_to(folder))
    return target


# Release ------------------------------------------------------------------------------------------------------------------
#
# A release from the page: a table that was given, the plan for it, and the work itself, which a process of its own does.


TABLES = (".csv", ".tsv", ".xlsx", ".parquet", ".feather", ".arrow", ".jsonl", ".ndjson")
"""Allowed endings of a table that is given."""
POLICY = "policy.toml"
SAVED = "# the policy above, saved as policy.toml"
ROOM = 4 * 2**20
"""Free bytes that a release needs next to the size of its table."""
MOST_COLUMNS, LONGEST_NAME = 200, 200
"""Limits of a person's input."""


@dataclass(frozen=True)
class Given:
    """Table that someone gave: its place, its name, and the fields about it."""

    path: str
    name: str
    form: Form
    guessed: bool
    """True if the types of its columns were guessed from cells."""
    example: str = ""
    digest: str = ""
    """Keyed digest, by which a link recognises the file; empty for folders and databases."""

    @property
    def columns(self) -> list[str]:
        """All its columns."""
        return [name for column in self.form.columns for name in column.names]


def given_table(path: str, name: str) -> Given:
    """The fields for a table in a file; of its values nothing is proposed."""
    if "://" in path:
        raise FileFormatError(f"{path} is an address; the studio opens files of this machine alone.")
    dataset = re.sub(r"[^a-z0-9]+", "-", Path(name).stem.lower()).strip("-") or "table"
    start = starting_policy(path, dataset=dataset)
    names = [one for proposal in start.proposals for one in proposal.names]
    if len(names) > MOST_COLUMNS or max(map(len, names), default=0) > LONGEST_NAME:
        raise FileFormatError(
            f"tables of up to {MOST_COLUMNS} columns, with names of up to {LONGEST_NAME} letters, are asked about here; write "
            "the policy of this one with noisewright init."
        )
    return Given(path, name, starting_form(start, dataset), start.guessed, digest=digest_of(path))


def read_apart(path: str, name: str, told: Callable[..., None]) -> Given:
    """Read a table as :func:`given_table` does, in a job; it reports nothing before its end."""
    del told
    return given_table(path, name)


def given_example(key: str, folder: Path) -> Given:
    """An example, written to a folder, with the public facts about it filled in."""
    import pyarrow.parquet as pq

    example = EXAMPLES[key]
    target = folder / f"{key}.parquet"
    pq.write_table(example.make(), target)
    found = given_table(str(target), target.name)
    columns = tuple(c.having(**example.known.get(c.names[0], {})) for c in found.form.columns)
    return replace(found, form=replace(found.form, columns=columns), example=key)


def stamp_of(path: str) -> str:
    """A path and when what is there was changed: another content is another table."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):  # a table of a database, say
        return path
    return f"{path} {found.st_mtime_ns} {found.st_size}"


def planned(form: Form, path: str, ledger: str | None, folder: Path, raise_budget: bool = False) -> Plan:
    """The plan of a form for a table, every check of a release included; public files lie in the folder."""
    return plan(_policy(policy_text(form), folder), path, ledger=ledger, raise_budget=raise_budget)


def planned_apart(
    form: Form, path: str, ledger: str | None, folder: str, raise_budget: bool, told: Callable[..., None]
) -> Plan:
    """Make a plan as :func:`planned` does, in a job; it reports nothing before its end."""
    del told
    return planned(form, path, ledger, Path(folder), raise_budget)


def _policy(text: str, folder: Path) -> Policy:
    """The policy of a text, next to the public files that it names."""
    vectors = folder / EMBEDDING
    if EMBEDDING in text and not vectors.exists():
        shutil.copy(COMES_ALONG / EMBEDDING, vectors)
    return Policy.from_toml(text, name=str(folder / POLICY))


@dataclass(frozen=True)
class Gauge:
    """Spent part of a budget, the cost of this release, and the remaining budget, as exact numbers and in words."""

    spent: Fraction
    asked: Fraction
    budget: Fraction
    words: str

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of the budget that are spent and asked for."""
        spent = min(Fraction(1), self.spent / self.budget)
        return float(spent), float(min(1 - spent, self.asked / self.budget))


def gauge_of(found: Plan, made: bool = False) -> Gauge:
    """The budget of a plan; ``made``: of one that was carried out, and asks for nothing any more."""
    budget, left = found.policy.budget.epsilon, found.budget
    assert left is not None
    if made:
        times = f"{left.releases} release{'' if left.releases == 1 else 's'}"
        words = f"Of epsilon {upward(budget)} for {found.policy.dataset}: {upward(budget - left.epsilon)} spent in {times}, "
        return Gauge(budget - left.epsilon, Fraction(0), budget, f"{words}{downward(left.epsilon)} left.")
    rest = max(left.epsilon - found.epsilon, Fraction(0))
    times = f"{left.releases} release{'' if left.releases == 1 else 's'}"
    before = f"{upward(budget - left.epsilon)} spent in {times}, " if left.recorded else "nothing spent yet, "
    after = f"{downward(rest)} left afterwards" if left.fits else "which does not fit"
    if left.recorded and not left.fits:
        return Gauge(
            budget - left.epsilon,
            Fraction(0),
            budget,
            f"Of epsilon {upward(budget)}: {before}{downward(left.epsilon)} left.",
        )
    words = f"Of epsilon {upward(budget)} for {found.policy.dataset}: {before}{upward(found.epsilon)} for this one, {after}."
    return Gauge(budget - left.epsilon, found.epsilon, budget, words)


def code_of(name: str, ledger: str | None, form: str, raise_budget: bool = False) -> str:
    """Lines of Python that make the same release with the policy that the page shows."""
    book = f", ledger={ledger!r}" if ledger else ""
    more = ", raise_budget=True" if raise_budget else ""
    return (
        "import noisewright as nw\n\n"
        f"{SAVED}\n"
        f'plan = nw.plan("{POLICY}", {name!r}{book}{more})\n'
        "print(plan.in_words())\n"
        f'done = nw.release("{POLICY}", {name!r}, output="out", format="{form}"{book}{more})\n'
        'print(nw.verify("out"))'
    )


def commands_of(name: str, ledger: str | None, form: str, raise_budget: bool, needs_vectors: bool) -> str:
    """The commands that make the same release with the policy that the page shows."""
    books = {**({"ledger": ledger} if ledger else {}), **({"raise_budget": ""} if raise_budget else {})}
    lines = [SAVED]
    if needs_vectors:
        lines.append(f"noisewright embeddings get {Path(EMBEDDING).stem} --output {EMBEDDING}")
    lines.append(Task("", ("plan", POLICY, name), books).command)
    lines.append(Task("", ("release", POLICY, name), {"output": "out", "format": form, **books}).command)
    return "\n".join([*lines, "noisewright verify out"])


@dataclass(frozen=True)
class Released:
    """Result of a release, as plain data."""

    folder: str
    rows: int | None
    reread: bool
    report: str
    left: str
    """Budget that is left, in words; empty for a release that was made earlier."""
    proved: bool
    sentences: tuple[str, ...]


def make_release(
    text: str,
    path: str,
    root: str,
    scratch: str,
    ledger: str | None,
    form: str,
    raise_budget: bool,
    told: Callable[..., None],
) -> Released:
    """Make a release in a folder of its own below ``root``, and prove it; temporary files lie in ``scratch``.

    Where the ledger has a release of this table under this policy already, its folder is read, and nothing is drawn or spent.
    """
    before, tempfile.tempdir = tempfile.tempdir, scratch
    try:
        return _made(text, path, Path(root), Path(scratch), ledger, form, raise_budget, told)
    finally:
        tempfile.tempdir = before


def _made(
    text: str,
    path: str,
    root: Path,
    scratch: Path,
    ledger: str | None,
    form: str,
    raise_budget: bool,
    told: Callable[..., None],
) -> Released:
    policy = _policy(text, scratch)
    home = home_of(root, policy.dataset)
    try:
        with turn(ledger, policy):
            return _made_alone(policy, text, path, home, ledger, form, raise_budget, told)
    except OSError as problem:
        raise FileFormatError(
            f"{home} cannot be written ({problem.strerror or 'the disk refused'}); make room there, or name another folder with "
            "--releases."
        ) from None


def _made_alone(
    policy: Policy,
    text: str,
    path: str,
    home: Path,
    ledger: str | None,
    form: str,
    raise_budget: bool,
    told: Callable[..., None],
) -> Released:
    folder = _place(policy, path, home, ledger, form)
    if not folder.exists() and free_bytes(home) < ROOM + _size(path):
        raise FileFormatError(
            f"there is too little room in {home}, so nothing was drawn; make room there, or name another folder with --releases."
        )
    own, note = home.parent in folder.parents, folder.with_suffix(".toml")
    fresh = own and not folder.exists()
    try:
        if fresh:
            note.write_text(text, encoding="utf-8")
        done = release(
            policy,
            path,
            output=folder,
            ledger=ledger,
            engine="local",
            format=form,  # type: ignore[arg-type]
            raise_budget=raise_budget,
            release_id=folder.name if ID.fullmatch(folder.name) else None,
            progress=lambda rows, of: told(rows, of or 0),
        )
    except NoisewrightError:
        if fresh and not folder.exists():
            note.unlink(missing_ok=True)
        raise
    if own:
        folder.chmod(0o700)
    proof = examined(certificate_bytes(folder), folder, Ledger(ledger, create_missing=False))
    left = done.balance
    if left is None:
        raise BudgetError("the ledger does not know this release.")
    return Released(
        str(folder),
        done.rows,
        done.reread,
        done.page,
        f"{downward(left.left_epsilon)} of {upward(left.epsilon)}",
        proof.proved,
        proof.sentences,
    )


def free_bytes(folder: Path) -> int:
    """Return how many bytes can still be written to a folder."""
    return shutil.disk_usage(folder).free


def _size(path: str) -> int:
    """Return the size of a table in a file; of anything else, 0."""
    return os.path.getsize(path) if os.path.isfile(path) else 0


def _place(policy: Policy, path: str, home: Path, ledger: str | None, form: str) -> Path:
    """Return the folder of a release: the ledger's folder in this format, one next to it, or a new one."""
    if ledger is not None and os.path.exists(ledger):
        book = Ledger(ledger, create_missing=False)
        source = source_for(policy, path)
        with engine_for("local", source) as runner:
            plan = plan_for(policy, source, runner)
        content = content_digest(source, References(source, plan.columns))
        mend_unfinished(plan, content, book)
        for earlier in book.made_before(policy.digest(), content):
            there = Path(earlier.place)
            if earlier.place and there.is_dir():
                tables = [table.name for table in there.glob("data.*")]
                stored = not tables or f"data.{form}" in tables
                return there if stored else home / f"{earlier.release_id}-{form}"
    return home / new_id()


def shown_again(kept: Kept, ledger: str) -> Released:
    """A release that is kept, proved again."""
    proof = examined(certificate_bytes(kept.folder), kept.folder, ledger if os.path.exists(ledger) else None)
    try:
        report = read_input(kept.folder / REPORT).decode()
        rows = Lock.from_json(read_input(kept.folder / LOCK).decode()).rows
    except (OSError, UnicodeError):
        raise FileFormatError(f"the files of {kept.folder} cannot be read; look at the folder.") from None
    return Released(str(kept.folder), rows, True, report, "", proof.proved, proof.sentences)
