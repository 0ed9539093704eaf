"""Channel or certificate of a user: its real guarantee, and a repaired one that is proved."""

from __future__ import annotations

import errno
import os
import shutil
import zipfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

from noisewright._utils.inputs import is_url, open_archive
from noisewright.certificates.certificate import Certificate, claimed, prove
from noisewright.channels.audit import Audit
from noisewright.channels.channel import Channel
from noisewright.claims.figures import upward
from noisewright.claims.phrases import OPEN
from noisewright.cli.arguments import check_number, default_metric, parse_metric
from noisewright.exceptions import DataError, FileFormatError, LedgerError, ParameterError
from noisewright.io.serialization import load_either
from noisewright.ledger.database import default_path
from noisewright.ledger.export import changed, kept
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Balance, LedgerRecord, downward
from noisewright.mechanisms.from_certificate import channel_of
from noisewright.releases.certificate import CERTIFICATE, Verification, certificate_bytes, examined
from noisewright.render.claims import audit_meaning
from noisewright.studio.services.design import python_of

__all__ = [
    "HEAD",
    "LEDGERS",
    "Account",
    "Audited",
    "Repaired",
    "accounts",
    "audit_code",
    "audited",
    "checked_folder",
    "example_channel",
    "ledger_path",
    "repaired",
    "unpacked",
]


LARGEST = 2000


@dataclass(frozen=True)
class Audited:
    """Real guarantee of a file."""

    claim: str | None
    """Claim of a certificate, if it is proved."""
    reason: str | None
    """Why a certificate is not proved, or has no channel."""
    channel: Channel | None
    found: Audit | None
    reading: str


@dataclass(frozen=True)
class Repaired:
    """A channel with the guarantee that was requested, and how much of its probability had to move."""

    channel: Channel
    certificate: Certificate
    proved: str
    change: float


def example_channel() -> Channel:
    """A channel that someone rounded by hand: it looks like a geometric mechanism, and is not quite one."""
    return Channel([[0.7, 0.2, 0.1], [0.26, 0.5, 0.24], [0.1, 0.2, 0.7]], inputs=["low", "middle", "high"])


def audited(thing: Path | Channel, metric: str = "") -> Audited:
    """The smallest epsilon of a channel, or of the one behind a certificate."""
    chosen = parse_metric(_named(metric)) if metric.strip() else None
    found = thing if isinstance(thing, Channel) else load_either(thing)
    claim = reason = None
    if isinstance(found, Certificate):
        claim, reason = prove(dict(found.document))
        if claim is None:
            return Audited(None, reason, None, None, "Nothing is proved by this certificate.")
        behind = channel_of(found)
        if isinstance(behind, str):
            return Audited(claim, behind, None, None, claimed(dict(found.document)).in_words())
        channel, measure = behind[0], chosen or behind[1]
    else:
        channel, measure = found, chosen or default_metric(found.inputs)
    if max(channel.shape) > LARGEST:
        raise DataError(f"up to {LARGEST} secrets and outputs are audited here; the command line takes more.")
    smallest = channel.epsilon(measure)
    return Audited(claim, None, channel, smallest, audit_meaning(smallest))


def repaired(channel: Channel, epsilon: str, metric: Any) -> Repaired:
    """Return the nearest channel of Noisewright that has this guarantee, proved with integers."""
    if not epsilon.strip():
        raise ParameterError("say which epsilon the repaired channel must have.")
    made = channel.certify(check_number(epsilon, "epsilon"), metric, max_change=1.0)
    certificate = Certificate.of(made)
    return Repaired(made.channel(), certificate, certificate.verify(), made.change)


def audit_code(name: str, metric: str, epsilon: str, found: Audited) -> str:
    """Lines of Python that audit a file, and with an ``epsilon`` repair it."""
    asked = f", metric={metric!r}" if metric.strip() else ""
    behind = "" if found.claim is None or found.channel is None else ".channel()"
    lines = ["import noisewright as nw", "", f"channel = nw.load({name!r}){behind}", f"print(nw.audit(channel{asked}))"]
    measure = None if found.found is None else found.found.metric
    if epsilon:
        lines.append(f"repaired = channel.certify({epsilon!r}, {python_of(measure)}, max_change=1)")
        lines.append('nw.save(nw.Certificate.of(repaired), "certificate.json")')
    return "\n".join(lines)


def _named(metric: str) -> str:
    if metric.strip().startswith("table"):
        raise ParameterError("a table of distances is read by the command line; choose a metric by its name here.")
    return metric


# Checking -----------------------------------------------------------------------------------------------------------------
#
# A release that someone brings: its folder, or all of it in one file, proved again.


MOST_FILES, MOST_BYTES = 10_000, 2**30
"""Maximum number of files, and of bytes, that a file with a release may unpack to."""


TOO_LARGE = "unpacks to more than is taken here; unpack it, and name its folder."
DAMAGED = "cannot be unpacked; it is damaged, or no .zip file."


def checked_folder(path: str, ledger: str = "") -> Verification:
    """Prove the folder of a release, or a certificate; with a ledger, check whether that recorded it."""
    return examined(certificate_bytes(path), path, ledger.strip() or None)


def unpacked(archive: Path, target: Path) -> Path:
    """The folder of the release in a file that holds all of it; nothing is written outside of the target."""
    shutil.rmtree(target, ignore_errors=True)
    try:
        with open_archive(archive, MOST_BYTES) as held:
            members = [one for one in held.infolist() if not one.is_dir()]
            home = _home(members, archive.name)
            for one in members:
                held.extract(one, target)
    except FileFormatError:
        raise
    except OSError as problem:
        if problem.errno == errno.EFBIG:
            raise FileFormatError(f"{archive.name} {TOO_LARGE}") from None
        raise FileFormatError(f"{archive.name} {DAMAGED}") from None
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError, ValueError):
        raise FileFormatError(f"{archive.name} {DAMAGED}") from None
    return target / home


def _home(members: list[zipfile.ZipInfo], name: str) -> PurePosixPath:
    """The folder among the files of an archive that holds a release; refused before anything is unpacked."""
    if len(members) > MOST_FILES or sum(one.file_size for one in members) > MOST_BYTES:
        raise FileFormatError(f"{name} {TOO_LARGE}")
    paths = [PurePosixPath(one.filename) for one in members]
    if any(path.is_absolute() or ".." in path.parts or "\\" in str(path) for path in paths):
        raise FileFormatError(f"{name} holds files that would lie outside of its folder; nothing was unpacked.")
    homes = [path.parent for path in paths if path.name == CERTIFICATE]
    if not homes:
        raise FileFormatError(f"{name} holds no release: there is no {CERTIFICATE} in it.")
    return min(homes, key=lambda path: len(path.parts))


# Ledgers ------------------------------------------------------------------------------------------------------------------
#
# A ledger for reading: of every dataset its budget, the spends by release and policy, and the rest of the budget.


LEDGERS = (".sqlite", ".db", ".ledger", ".bak", ".backup")
"""Allowed endings of a ledger that is given."""
HEAD = ("time (UTC)", "part", "epsilon", "delta", "between", "state", "release", "asked by policy")


@dataclass(frozen=True)
class Account:
    """One dataset in a ledger."""

    dataset: str
    share: float
    """Share of the budget that is spent."""
    words: str
    facts: tuple[tuple[str, str], ...]
    rows: tuple[tuple[str, ...], ...]
    """One for each part of each release, as :data:`HEAD` says."""


def ledger_path(text: str) -> str:
    """Return the ledger that is meant: a file by its path, or this user's."""
    meant = text.strip() or str(default_path())
    if is_url(meant):
        raise LedgerError("the studio opens ledgers in files; look at one in a database with: noisewright ledger show.")
    return os.path.abspath(os.path.expanduser(text)) if text.strip() else meant


def accounts(path: str) -> list[Account]:
    """All datasets of a ledger, which is checked as a whole when it is opened, and never made."""
    ledger = Ledger(path, create_missing=False)
    return [_account(ledger, name) for name in ledger.datasets()]


def _account(ledger: Ledger, name: str) -> Account:
    balance, entries = ledger.remaining(name), ledger.entries(name)
    share = min(Fraction(1), balance.spent_epsilon / balance.epsilon)
    times = f"{balance.releases} release{'' if balance.releases == 1 else 's'}"
    spent = _amount(upward(balance.spent_epsilon), balance, upward(balance.spent_delta))
    left = _amount(downward(balance.left_epsilon), balance, downward(balance.left_delta))
    whole = _amount(downward(balance.epsilon), balance, downward(balance.delta))
    least = "at least " if balance.scope == "unit" else ""
    return Account(
        name,
        float(share),
        f"Of {whole}: {spent} spent in {times}, {least}{left} left.",
        tuple(_facts(ledger, balance, entries)),
        tuple(_row(entry) for entry in entries),
    )


def _amount(epsilon: str, balance: Balance, delta: str) -> str:
    return f"epsilon {epsilon}" + (f" and delta {delta}" if balance.delta else "")


def _facts(ledger: Ledger, balance: Balance, entries: list[LedgerRecord]) -> list[tuple[str, str]]:
    rows = [("Between", balance.between)]
    if balance.scope == "unit":
        rows.append(
            ("Counted", "for each unit on its own; what is spent is that of one that took part in every release")
        )
    gone = kept(entries)
    rows += [(OPEN, f"{', '.join(gone)}: released as it is")] if gone else []
    without = changed(entries)
    rows += [("No epsilon", f"{', '.join(without)}: changed by a learned privatiser")] if without else []
    for event in ledger.history(balance.dataset):
        amount = _amount(downward(event.epsilon), balance, downward(event.delta))
        rows.append((f"Budget {event.event}", f"{_time(event.time)} UTC, to {amount}"))
    return rows


def _row(entry: LedgerRecord) -> tuple[str, ...]:
    free = not entry.bounded
    return (
        _time(entry.time),
        f"{entry.name} ({entry.kind})",
        "no bound" if free else upward(entry.epsilon),
        "" if free else upward(entry.delta),
        entry.guarantee or "not stated",
        entry.state,
        entry.release_id,
        entry.policy[:12] or "not stated",
    )


def _time(stamp: str) -> str:
    return stamp[:16].replace("T", " ")
