"""Files of a release: their names, and the check that a folder has just those.

>>> import noisewright as nw, pyarrow as pa, tempfile
>>> folder = tempfile.mkdtemp()
>>> policy = {"dataset": "clinic", "budget": {"epsilon": 1}, "columns": [
...     {"name": "sex", "mechanism": "randomised-response", "categories": ["f", "m"], "epsilon": 1}]}
>>> done = nw.release(policy, pa.table({"sex": ["f", "m"] * 500}), output=f"{folder}/released", ledger=f"{folder}/ledger")
>>> nw.load(f"{folder}/released").columns
('sex',)

Nothing is believed but claims and integers: :mod:`noisewright.certificates.checker.checker` proves them again. The
files of a folder must in addition belong to one release (:mod:`noisewright.releases.folder`).

>>> import noisewright as nw
>>> found = verify(nw.geometric(epsilon=1, within=(0, 100)).certificate())
>>> found.proved, found.claim
(True, 'epsilon = 1 per unit of line')
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from noisewright._utils.inputs import check_nesting, read_input
from noisewright._utils.lazy import Addresses
from noisewright._utils.validation import OutputFormat, guided
from noisewright._version import VERSION as PROGRAM
from noisewright.certificates.certificate import (
    Certificate,
    Claim,
    claimed,
    distances_in_words,
    randomness_phrase,
    read_document,
)
from noisewright.certificates.checker import checker, checker_release
from noisewright.certificates.composition import parts_of
from noisewright.claims import phrases
from noisewright.claims.figures import upward
from noisewright.exceptions import CertificateError, FileFormatError, NoisewrightError, ParameterError
from noisewright.mechanisms.registry import registry
from noisewright.render.claims import meaning, part_sentence
from noisewright.resources import Resource, in_place, look_in
from noisewright.sampling.random_bits import RELEASE_RANDOMNESS, SIMULATION_RANDOMNESS

if TYPE_CHECKING:
    from noisewright.base import Mechanism
    from noisewright.channels.channel import Channel
    from noisewright.ledger.ledger import Ledger
    from noisewright.planning.column_plan import ColumnPlan
    from noisewright.queries.answers import QueryPlan
    from noisewright.releases.folder import FolderCheck
    from noisewright.releases.plan import Plan
    from noisewright.releases.received import Received

__all__ = [
    "ANSWERS",
    "CERTIFICATE",
    "REPORT",
    "Recomputed",
    "ReleaseCertificate",
    "Verification",
    "answer_files",
    "certificate_bytes",
    "examined",
    "has_its_files",
    "load",
    "look_everywhere",
    "public_files",
    "recomputed",
    "verify",
]


CERTIFICATE, REPORT, ANSWERS = "certificate.json", "report.html", "answers"


def has_its_files(plan: Plan, outputs: Collection[str]) -> bool:
    """Return whether these are the names of the files that a release under this plan has: no more and no fewer."""
    tables = [name for name in outputs if name in {f"data.{ending}" for ending in get_args(OutputFormat)}]
    wanted = {CERTIFICATE, REPORT, *answer_files(plan), *tables}
    return len(tables) == bool(plan.columns) and set(outputs) == wanted


def answer_files(plan: Plan) -> list[str]:
    """Return the paths of the answers, in their order."""
    return [f"{ANSWERS}/{_slug(query.name, place)}.csv" for place, query in enumerate(plan.queries)]


def _slug(name: str, place: int) -> str:
    """A file name for an answer: its name in plain letters, after its number."""
    return f"{place + 1:02d}-" + (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "answer")


# Recomputing --------------------------------------------------------------------------------------------------------------
#
# Recomputation of statements about public files, where the files are here: the last step of ``verify``.
#
# A proof that rests on a number about a public file, such as the slope of an embedding, says that the number is stated.
# Anyone who has the file need not believe it. Parts of products and of releases are examined too, and what several of
# them state alike is computed once.


FOLDERS = Addresses(
    "noisewright.resource_folders",
    "folder of public files",
    {
        "embeddings": "noisewright.text.embedding:embedding_folders",
        "faces": "noisewright.images.faces.model:model_folders",
    },
)
"""Functions that return the folders where public files of a domain lie."""
UNASKED = 5.0
"""Duration in seconds beyond which a computation runs only on request."""


@dataclass(frozen=True)
class Recomputed:
    """Results in words: agreements, checks that would have taken too long, and failures."""

    agreed: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    wrong: str | None = None


def look_everywhere() -> None:
    """Register the folders of public files of all domains, those of other packages included."""
    look_in(*(folder for name in FOLDERS for folder in FOLDERS.load(name)()))


def public_files(document: Mapping[str, Any]) -> list[Resource]:
    """The public files that a certificate, or the parts of a release's certificate, state."""
    certificates = [document, *(part["certificate"] for part in document.get("parts", []))]
    return list(dict.fromkeys(Resource.from_json(file) for one in certificates for file in one.get("resources", [])))


def recomputed(document: Mapping[str, Any], however_long: bool = False) -> Recomputed:
    """Compute again the statements of a proved certificate about public files that are here."""
    agreed: list[str] = []
    unchecked: list[str] = []
    for certificate in _single(document):
        words = certificate.document["proof"]["kind"] == "words"  # whatever it is called
        entry = registry.get("exact-words" if words else certificate.document["mechanism"])
        try:
            if words and entry is not None and entry.rebuild is not None:
                entry.rebuild(certificate)  # the file has its step and its words
            stated = None if entry is None or entry.stated is None else entry.stated(certificate)
            if stated is None:
                continue
            if stated.seconds > UNASKED and not however_long:
                unchecked.append(f"{stated.what}: about {_in_words(stated.seconds)}; --recompute does that")
            else:
                agreed.append(stated.again())
        except NoisewrightError as problem:
            return Recomputed(wrong=str(problem))
    return Recomputed(tuple(agreed), tuple(unchecked))


def _single(document: Mapping[str, Any]) -> Iterator[Certificate]:
    """The certificates inside of one whose files are all here, each once."""
    seen = set()
    for whole in [part["certificate"] for part in document["parts"]] if "parts" in document else [document]:
        if not whole.get("resources") or in_place(public_files(whole))[1]:
            continue
        certificate = Certificate.from_document(dict(whole))
        product = whole["proof"]["kind"] == "product"
        for one in [certificate, *(part.certificate for part in (parts_of(certificate) if product else ()))]:
            about = json.dumps([one.document[key] for key in ("mechanism", "claim", "proof")], sort_keys=True)
            if about not in seen:
                seen.add(about)
                yield one


def _in_words(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"


# Loading ------------------------------------------------------------------------------------------------------------------
#
# ``nw.load``: whatever a path holds, a channel, the mechanism behind a certificate, or a whole release.


def load(path: str | os.PathLike[str]) -> Channel | Mechanism | Received | Any:
    """A channel from its file, the mechanism behind a certificate (proved first), or from a folder the release in it.

    :class:`~noisewright.releases.received.Received` has the table, the answers and estimates of what was before.
    """
    if isinstance(path, (str, os.PathLike)) and os.path.isdir(path):
        from noisewright.releases.received import receive

        return receive(path)
    if isinstance(path, (str, os.PathLike)) and not os.path.splitext(path)[1] and not os.path.lexists(path):
        raise FileFormatError(f"there is no folder or file {os.fspath(path)}.")
    from noisewright.io.serialization import load as load_file

    return load_file(path)


# Certificate --------------------------------------------------------------------------------------------------------------
#
# The certificate of a release: one document with the certificate of every part, the privacy cost of each, and the total.
#
# ``certificate.json`` of a release can be checked by anyone, with ``noisewright verify certificate.json`` or with the exported
# checker alone: :mod:`noisewright.certificates.checker.checker_release` proves every part again and that the privacy
# costs and the total follow.
#
# A part says ``times``, ``distance`` and ``price``: one unit is in it at most ``times`` times, and two values that are
# protected are at most ``distance`` apart in the metric of the part's certificate ("any": any two values that the
# certificate is about; "radius": places within the radius that the certificate names). Kept columns and answers that are
# exact are listed, as not protected; so is the order of the rows, where it is kept. Where nothing is protected there are
# no parts, and no total.


@dataclass(frozen=True)
class ReleaseCertificate:
    """A release certificate as the JSON document it is; build one with :meth:`build`."""

    document: Mapping[str, Any]

    @classmethod
    def build(cls, plan: Plan, simulated: bool) -> ReleaseCertificate:
        """The certificate of a planned release; ``simulated`` says that its draws are not for release."""
        parts = [part for column in plan.columns if column.protected for part in _column(column, simulated)]
        parts += [part for query in plan.queries for part in _query(query, simulated)]
        document: dict[str, Any] = {
            "format": checker_release.FORMAT,
            "version": checker_release.VERSION,
            "made_by": f"noisewright {PROGRAM}",
            "dataset": plan.policy.dataset,
            "neighbours": plan.policy.relation,
            "floating": plan.policy.floating,
            "parts": parts,
            "kept": list(plan.kept),
            "context_aware": [_context(column) for column in plan.context_aware],
            "order": plan.order if plan.columns else None,
            "exact": [q.name for q in plan.queries if q.exact],
            "total": {"epsilon": str(plan.epsilon), "delta": str(plan.delta)} if parts else None,
            "randomness": SIMULATION_RANDOMNESS if simulated else RELEASE_RANDOMNESS,
        }
        return cls({**document, "digest": checker.digest(document)})

    @classmethod
    def from_json(cls, text: str) -> ReleaseCertificate:
        """Read a release certificate; :meth:`verify` proves it."""
        try:
            check_nesting(text.encode())
        except ValueError:
            raise CertificateError("this is not a certificate: its JSON is nested too deeply.") from None
        document = read_document(text)
        if not isinstance(document, dict) or document.get("format") != checker_release.FORMAT:
            raise CertificateError("this is JSON, but not the certificate of a release.")
        return cls(document)

    @classmethod
    def of_folder(cls, folder: Path) -> ReleaseCertificate:
        """Read the certificate of a release; :class:`OSError` or :class:`UnicodeError` if it cannot be read."""
        return cls.from_json(read_input(folder / CERTIFICATE).decode())

    def to_json(self) -> str:
        """The certificate as JSON text."""
        return json.dumps(self.document, indent=1, ensure_ascii=True) + "\n"

    def verify(self) -> list[str]:
        """Prove everything again, with integers alone; the proof, sentence by sentence, or a :class:`CertificateError`.

        A release with floating parts is not proved as a whole; the error then lists the proved and the unproved parts.
        """
        try:
            return checker.check(dict(self.document)).splitlines()
        except checker.NotProved as problem:
            raise CertificateError(f"the certificate does not prove its claim: {problem}") from None

    def __repr__(self) -> str:
        """Short, and without a verdict: :meth:`verify` gives that, and :attr:`document` has everything."""
        parts, total = self.document.get("parts") or (), self.document.get("total") or {}
        claims = f"claims epsilon {total.get('epsilon')} in {len(parts)} part{'' if len(parts) == 1 else 's'}"
        return f"<ReleaseCertificate of {self.document.get('dataset')!r}: {claims}; verify() proves it>"

    @property
    def digest(self) -> str:
        """The SHA-256 that names this certificate."""
        return str(self.document["digest"])


def _context(column: ColumnPlan) -> dict[str, Any]:
    """Columns that were changed without an epsilon: by which file, the guarantee in its place, and what was measured."""
    stated: Any = None if column.mechanism is None else column.mechanism.guarantee
    return {
        "columns": list(column.names),
        "measured": {
            "private": list(stated.private),
            **{
                name: upward(getattr(stated, name), 4)
                for name in ("accuracy", "prior", "distortion", "most_distortion")
            },
            "adversaries": list(stated.adversaries),
            "rows": stated.rows,
            "converged": stated.converged,
        },
        "resources": [resource.to_json() for resource in column.resources],
    }


def _column(column: ColumnPlan, simulated: bool) -> Iterator[dict[str, Any]]:
    from noisewright.planning.column_plan import distance_said

    for certificate in column.certificates(simulated):
        yield {
            "name": ", ".join(column.outputs),
            "kind": "column",
            "columns": list(column.names),
            "protects": dict(column.protection or {}),
            "times": column.times,
            "distance": distance_said(certificate, column.distance, column.protect is None),
            "price": str(column.price),
            "delta": str(column.delta),
            "certificate": dict(certificate.document),
        }


def _query(query: QueryPlan, simulated: bool) -> Iterator[dict[str, Any]]:
    for statistic in query.statistics:
        if statistic.noise is not None:
            yield {
                "name": query.name,
                "kind": "query",
                "statistic": statistic.name,
                "times": statistic.noise.times,
                "distance": "1",
                "price": str(statistic.noise.price),
                "delta": str(statistic.noise.delta),
                "certificate": dict(statistic.noise.certificate(simulated).document),
            }


# Proving ------------------------------------------------------------------------------------------------------------------
#
# ``verify``: prove a certificate, a file of one, or the folder of a release, and state the proof.


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
    from noisewright.ledger.ledger import Ledger
    from noisewright.releases.folder import verify_folder

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
