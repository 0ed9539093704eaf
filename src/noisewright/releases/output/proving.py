r"""``verify``: prove a certificate, a file of one, or the folder of a release, and state the proof.

Nothing is believed but claims and integers: :mod:`noisewright.core.certificates.checker.checker` proves them again. The
files of a folder must in addition belong to one release (:mod:`noisewright.releases.output.folder_check`).

>>> import noisewright as nw
>>> found = verify(nw.geometric(epsilon=1, within=(0, 100)).certificate())
>>> found.proved, found.claim
(True, 'epsilon = 1 per unit of line')
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from noisewright.claims import phrases
from noisewright.core.certificates.certificate import Certificate
from noisewright.core.certificates.checker import checker, checker_release
from noisewright.core.certificates.claims import Claim, claimed, distances_in_words
from noisewright.core.certificates.records import randomness_phrase
from noisewright.core.errors import CertificateError, FileFormatError, ParameterError
from noisewright.core.loading.guided import guided
from noisewright.core.resource import in_place, look_in
from noisewright.files.inputs import check_nesting, read_input
from noisewright.releases.output.certificate import ReleaseCertificate
from noisewright.releases.output.layout import CERTIFICATE
from noisewright.render import meaning, part_sentence

if TYPE_CHECKING:
    from noisewright.releases.ledger.ledger import Ledger
    from noisewright.releases.output.folder_check import FolderCheck

__all__ = ["Verification", "certificate_bytes", "examined", "verify"]

Verifiable = Certificate | ReleaseCertificate | str | os.PathLike[str]


@dataclass(frozen=True)
class Verification:
    """Proof, or the reason why there is no proof."""

    proved: bool
    claim: str | None
    """The claim in one sentence; None where nothing is claimed that could be proved."""
    reason: str | None
    """Why something is not proved; None where everything is."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Other known facts about the certificate or the release, as plain data."""
    folder: FolderCheck | None = None
    """Agreement of the files of a release, where a folder was given."""
    sound: bool = False
    """True if nothing is wrong, although floating parts may not be proved, or nothing may be claimed."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences about the proof, one by one; or about the problems."""
        if not self.proved:
            wrong = () if self.folder is None else self.folder.problems
            return (*(() if self.reason is None else (self.reason,)), *wrong)
        agreed = () if self.folder is None else self.folder.agreed
        if "parts" not in self.facts:
            said = (self.claim or "", meaning(self.claim or "", self.facts.get("reading", "")))
            return (*filter(None, said), *agreed)
        stated = self.facts["record"]
        parts = (part_sentence(part, stated["neighbours"]) for part in stated["parts"])
        return (self.claim or "", *parts, *(f"{what}: {text}" for what, text in self.facts["limits"]), *agreed)

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        found = {"proved": self.proved, "claim": self.claim, "reason": self.reason, **self.facts}
        if self.folder is not None:
            found |= {"agreed": list(self.folder.agreed), "problems": list(self.folder.problems)}
            found |= {"unchecked": list(self.folder.unchecked)} if self.folder.unchecked else {}
        return found

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        """Short: everything is in :attr:`sentences`.

        >>> Verification(True, "epsilon = 1 per unit of line", None)
        <Verification: proved, epsilon = 1 per unit of line>
        """
        return f"<Verification: {f'proved, {self.claim}' if self.proved else f'NOT proved: {self.reason}'}>"


@guided
def verify(
    thing: Verifiable, ledger: str | os.PathLike[str] | Ledger | None = None, *, recompute: bool = False
) -> Verification:
    """Prove a certificate, a file of one, or the folder of a release; a :class:`CertificateError` where that fails.

    With a ``ledger`` a folder must also be what that ledger recorded. What is stated about public files is computed again where
    they are here and it takes some seconds at most; with ``recompute`` also where it takes longer.
    """
    if isinstance(thing, (Certificate, ReleaseCertificate)):
        _no_ledger(ledger)
        found = _document(dict(thing.document), recompute)
    elif isinstance(thing, (str, os.PathLike)):
        found = examined(certificate_bytes(thing), thing, ledger, recompute=recompute)
    else:
        raise ParameterError(
            f"a certificate, its file or the folder of a release is verified, not {type(thing).__name__}."
        )
    if not found.proved:
        raise CertificateError(f"the certificate does not prove its claim: {' '.join(found.sentences)}")
    return found


def certificate_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of the file of a certificate; of a folder, its certificate."""
    folder = Path(path).is_dir()
    try:
        file = Path(path) / CERTIFICATE if folder else Path(path)
        return read_input(file)
    except FileNotFoundError:
        if folder:
            others = sorted(Path(path).glob("certificate-*.json"))[:1]
            named = f"; verify the certificates in it one by one, such as {others[0]}" if others else ""
            raise FileFormatError(
                f"{path} cannot be read as a release: there is no {CERTIFICATE} in it{named}."
            ) from None
        raise FileFormatError(f"there is no file {path}.") from None
    except (OSError, ValueError) as problem:
        raise FileFormatError(f"{path} cannot be read: {getattr(problem, 'strerror', problem)}.") from None


def examined(
    content: bytes,
    path: str | os.PathLike[str],
    ledger: str | os.PathLike[str] | Ledger | None = None,
    *,
    recompute: bool = False,
) -> Verification:
    """Prove the content of a file; ``path`` says whether it belongs to a folder, whose files are examined too."""
    look_in(Path.cwd(), Path(path).absolute().parent)  # for public files
    folder = Path(path).is_dir()
    try:
        check_nesting(content)
        found = _document(checker.read(content.decode()), recompute)
    except (ValueError, RecursionError):
        found = Verification(False, None, "this is not JSON, or it was cut short.")
    if not folder:
        _no_ledger(ledger)
        return found
    from noisewright.releases.ledger.ledger import Ledger
    from noisewright.releases.output.folder_check import verify_folder

    book = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(ledger, create_missing=False)
    files = verify_folder(Path(path), book)
    facts = dict(found.facts)
    files = replace(  # which covers public files itself; nothing is repeated
        files,
        agreed=tuple(dict.fromkeys([*files.agreed, *facts.pop("here", ())])),
        unchecked=tuple(dict.fromkeys([*files.unchecked, *facts.pop("unchecked", ())])),
    )
    sound = found.sound and not files.problems
    return Verification(found.proved and not files.problems, found.claim, found.reason, facts, files, sound=sound)


def _no_ledger(ledger: object) -> None:
    if ledger is not None:
        raise ParameterError("a ledger records releases; give it with the folder of one.")


def _document(document: Any, recompute: bool) -> Verification:
    """Return the proof of a certificate, and the known facts about the public files that it states."""
    if isinstance(document, dict) and document.get("format") == checker.RELEASE:
        found = _release(document)
        return found if "parts" not in found.facts else _with_public_files(found, document, recompute)
    try:
        record = checker.prove_record(document)
    except checker.NotProved as problem:
        return Verification(False, None, str(problem))
    document = checker.current(document)
    condition = " All of it if what the claim says to be stated is so." if phrases.rests_on_statements(record) else ""
    facts = {
        "record": record,
        "reading": claimed(document).in_words() + condition,
        "mechanism": document["mechanism"],
        "epsilon": str(document["claim"]["epsilon"]),
        "delta": str(document["claim"]["delta"]),
        "metric": phrases.metric_name(document["claim"]["metric"]),
        "distances": distances_in_words(document),
        "proof": document["proof"]["kind"],
        "randomness": randomness_phrase(document["randomness"]),
        "simulated": checker.simulated(document["randomness"]),
    }
    return _with_public_files(Verification(True, Claim(record), None, facts, sound=True), document, recompute)


def _with_public_files(found: Verification, document: dict[str, Any], recompute: bool) -> Verification:
    """The same, with which of the public files that a certificate states are here, and the statements of the
    certificate about them.
    """
    if not any("resources" in one for one in (document, *(part["certificate"] for part in document.get("parts", [])))):
        return found
    from noisewright.releases.output.recomputing import look_everywhere, public_files, recomputed

    look_everywhere()
    try:
        stated = public_files(document)
    except ParameterError as problem:
        return replace(found, proved=False, reason=str(problem), sound=False)
    here, missing = in_place(stated)
    again = recomputed(document, recompute)
    if again.wrong is not None:
        found = replace(found, proved=False, reason=again.wrong, sound=False)
    return replace(
        found, facts={**found.facts, "here": [*here, *again.agreed], "unchecked": [*missing, *again.unchecked]}
    )


def _release(document: dict[str, Any]) -> Verification:
    """Return the proof of a whole release; with floating parts, what of it is not proved."""
    stated = document.get("between")  # in version 1, a sentence
    try:
        document = checker.current(document)
        found = checker_release.examine(document)
    except checker.NotProved as problem:
        return Verification(False, None, str(problem))
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        MemoryError,
        RecursionError,
    ) as problem:
        return Verification(False, None, f"the file is incomplete or malformed ({type(problem).__name__}).")
    reason = None
    try:
        checker_release.check_release(document)
    except checker.NotProved as problem:
        reason = str(problem)
    relation = found["neighbours"]
    too_wide = relation["unit"] is not None and relation["relation"] == "same-rows"
    context = [{**one, "measured": phrases.average_case(one["measured"])} for one in found["context_aware"]]
    facts: dict[str, Any] = {
        "record": found,
        "epsilon": found["epsilon"],
        "delta": found["delta"],
        "between": phrases.tables(found),
        "parts": [
            {
                **part,
                "title": phrases.part_title(part),
                "words": phrases.part_line(part),
                "between": phrases.pair(part["pair"]),
                "protects": phrases.protected_by(part, found["neighbours"]),
                "claim": phrases.cost(part["price"], part["delta"]),
            }
            for part in found["parts"]
        ],
        **({"corrected": phrases.corrected(stated)} if too_wide and stated is not None else {}),
        "not_protected": found["kept"] + [name for one in context for name in one["columns"]] + found["exact"],
        "public": phrases.public_facts(found["neighbours"]),
        "context_aware": context,
        "order": found["order"],
        "simulated": found["simulated"],
        "randomness": randomness_phrase(document["randomness"]),
    }
    facts["limits"] = _limits(facts)
    claim = phrases.release_claim(found) if found["parts"] else None
    return Verification(reason is None, claim, reason, facts, sound=True)


def _limits(stated: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the limits of a release, unprotected and unproved parts, with a heading for each."""
    rows = [("In the file", stated["corrected"])] if "corrected" in stated else []
    rows += [(phrases.OPEN, stated["public"])] if stated["parts"] and stated["public"] else []
    if stated["simulated"]:
        rows.append(("Beware", "a simulation with a known seed: NOT FOR RELEASE"))
    if stated["not_protected"]:
        rows.append((phrases.OPEN, ", ".join(map(phrases.quoted, stated["not_protected"]))))
    for one in stated["context_aware"]:
        names = ", ".join(map(phrases.quoted, one["columns"]))
        rows.append(("No epsilon", f"{names}: changed by a context-aware privatiser, which is not proved"))
        rows.append(("Measured", f"as stated: {one['measured']}"))
    if stated["order"] in phrases.ORDERS:
        rows.append((phrases.OPEN, f"the order of the rows, which is {phrases.ORDERS[stated['order']]}"))
    return rows
