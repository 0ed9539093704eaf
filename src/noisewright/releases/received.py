"""A release as its recipient has it: the folder alone, without the data, the policy file or the ledger.

What is needed is in the lock (the policy, the types of columns) and in the certificate (what was drawn from). The
certificate is held to the lock, column by column; ``noisewright verify`` holds all of the folder to both.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from noisewright._utils.validation import nearest_name
from noisewright.exceptions import CertificateError, FileFormatError, ParameterError
from noisewright.mechanisms.registry import registry
from noisewright.planning.column_plan import ColumnPlan, compile_column
from noisewright.policy.policy import ColumnPolicy, Policy
from noisewright.releases.certificate import (
    CERTIFICATE,
    ReleaseCertificate,
    Verification,
    answer_files,
    certificate_bytes,
    examined,
    verify,
)
from noisewright.releases.column_estimates import ColumnEstimate, estimate_column
from noisewright.releases.folder import read_answer
from noisewright.releases.lock import LOCK, Lock
from noisewright.releases.plan import Plan, make_plan
from noisewright.tables.files import read_written, written_batches

__all__ = ["Received", "receive"]


def receive(folder: str | os.PathLike[str]) -> Received:
    """The release in a folder."""
    path = Path(folder)
    try:
        lock = Lock.of_folder(path)
        certificate = ReleaseCertificate.of_folder(path)
    except (OSError, UnicodeError):
        raise FileFormatError(
            f"{os.fspath(folder)} is no folder of a release: there is no {LOCK} or no {CERTIFICATE} that can be read in it."
        ) from None
    return Received(path, lock, certificate, Policy.from_dict(lock.document["policy"], LOCK))


@dataclass(frozen=True, eq=False, repr=False)
class Received:
    """The folder of a release; :func:`noisewright.load` opens one."""

    folder: Path
    lock: Lock
    certificate: ReleaseCertificate
    policy: Policy

    @property
    def columns(self) -> tuple[str, ...]:
        """The released columns."""
        return tuple(name for column in self.policy.columns for name in column.outputs)

    @property
    def rows(self) -> int | None:
        """The rows of the released table; None if there are only answers."""
        return self.lock.rows

    @cached_property
    def plan(self) -> Plan:
        """Plan from the policy in the lock: the guarantee, the privacy cost and the error of every part."""
        public = self.certificate.document.get("version") != 1
        return make_plan(self.policy, self.lock.types, self.lock.table_rows, counts_are_public=public)

    @cached_property
    def table(self) -> pa.Table | None:
        """The released table, in the types in which it was released; None if there are only answers."""
        return None if self._file is None else read_written(self._file, self.plan.output_types)

    @cached_property
    def answers(self) -> dict[str, pa.Table]:
        """The answers by the names of their queries, each with its 95 % interval."""
        files = zip(self.plan.queries, answer_files(self.plan), strict=True)
        return {query.name: read_answer(self.folder / name, query) for query, name in files}

    def verify(self) -> Verification:
        """Prove everything again: the certificate, and that the files of the folder belong to one release."""
        return verify(self.folder)

    def estimate(self, column: str) -> ColumnEstimate:
        """Estimate the original distribution of a released column: shares, means and quantiles with intervals.

        It costs nothing: only the released rows and the public law of the noise take part. ``column`` is a name in the released
        table; any of those that form one secret.
        """
        compiled = self._compiled(column)
        types = dict(zip(compiled.outputs, compiled.output_types, strict=True))
        return estimate_column(
            self._within_range(compiled),
            lambda: written_batches(self._table_file, types, compiled.outputs),
            self.lock.simulated,
            clamped=self.policy.columns[compiled.position].parameters.get("outside") == "clamp",
        )

    def estimates(self) -> list[ColumnEstimate]:
        """Every column that was perturbed, in the order of the table; at least one."""
        found = [self.estimate(column.outputs[0]) for column in self.policy.columns if self._perturbed(column)]
        if not found:
            raise ParameterError(f"{self.folder.name} has {self._without_noise}.")
        return found

    @property
    def _without_noise(self) -> str:
        """Content of a release in which nothing was perturbed row by row."""
        if not self.policy.columns:
            return "no released table, only answers, which have their intervals with them"
        return "no column with noise of a known law, so nothing is left to estimate"

    @staticmethod
    def _perturbed(column: ColumnPolicy) -> bool:
        """Return whether noise of a public law was added: kept and learned columns have none."""
        return not column.keep and registry[column.mechanism or ""].takes.claims

    @cached_property
    def _proof(self) -> Verification:
        """The proof of the folder, as by ``verify``. Floating parts may be in it, because the law of their noise is known."""
        found = examined(certificate_bytes(self.folder), self.folder)
        if not found.sound:
            raise CertificateError(
                f"{self.folder.name} is not proved, so nothing is estimated from it: {' '.join(found.sentences)}"
            )
        return found

    def _compiled(self, column: str) -> ColumnPlan:
        """The plan of one column alone, so that public files that another one needs may be missing here."""
        for place, one in enumerate(self.policy.columns):
            if column in one.outputs or column == ",".join(one.outputs):
                if one.keep:
                    raise ParameterError(
                        f"{column!r} was kept as it is: its values are the true ones, and nothing is left to estimate."
                    )
                if not self._perturbed(one):
                    raise ParameterError(
                        f"{column!r} was changed by a learned privatiser, which has no law of noise to estimate with; take its "
                        "values as they are."
                    )
                found = compile_column(one, place, self.lock.types, self.policy)
                self._check(found)
                return found
        if not self.policy.columns:
            raise ParameterError(f"{self.folder.name} has {self._without_noise}.")
        near = nearest_name(column, self.columns)
        hint = f"did you mean {near!r}?" if near else f"choose one of {', '.join(self.columns)}."
        raise ParameterError(f"{self.folder.name} has no released column {column!r}; {hint}")

    def _within_range(self, column: ColumnPlan) -> ColumnPlan:
        """The same column for values of its range alone: beyond it, a value that was moved to an end is like that end."""
        one = self.policy.columns[column.position]
        if one.parameters.get("outside") != "clamp":
            return column
        inside = one.model_copy(update={"outside": "refuse"})
        return compile_column(inside, column.position, self.lock.types, self.policy)

    def _check(self, column: ColumnPlan) -> None:
        """Refuse a certificate that is not about the column as the policy in the lock has it."""
        _ = self._proof
        parts = self.certificate.document.get("parts", [])
        wanted = [c.document for c in column.certificates(self.lock.simulated)]
        stated = [
            p["certificate"] for p in parts if p.get("kind") == "column" and p.get("columns") == list(column.names)
        ]
        if [(c["mechanism"], c["claim"]) for c in stated] != [(c["mechanism"], c["claim"]) for c in wanted]:
            raise CertificateError(
                f"the certificate of {self.folder.name} is not about {column.title} as its policy.lock says; noisewright verify "
                f"{self.folder} says more."
            )

    @property
    def _file(self) -> Path | None:
        found = [name for name in self.lock.document["outputs"] if name.startswith("data.")]
        return self.folder / found[0] if found else None

    @property
    def _table_file(self) -> Path:
        assert self._file is not None
        return self._file

    def __repr__(self) -> str:
        what = f"{len(self.policy.queries)} answers" if self.rows is None else f"{self.rows:,} rows"
        return f"Received({self.policy.dataset!r}, {what}, from {self.folder})"
