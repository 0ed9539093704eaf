"""Every mechanism samples the same outputs for a seed as before, and writes the same certificate.

``python -m tests.mechanisms.test_draws`` writes ``tests/fixtures/draws.json`` again, for a review of what differs. Exact
mechanisms are compared to the last bit; those that sample in floating point, to nine digits.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [path for path in (str(ROOT), str(ROOT / "tests" / "support")) if path not in sys.path]

from columns_support import CASES as COLUMNS  # noqa: E402
from tests.mechanisms.test_conformance import CASES  # noqa: E402

import noisewright as nw  # noqa: E402
from noisewright.mechanisms.registry import names  # noqa: E402

FILE = ROOT / "tests" / "fixtures" / "draws.json"
SEED, AT_LEAST = 7, 24
LONGEST = 160
"""Characters of a sample that are kept for reading; the digest covers all of it."""
SOLVED = ("faces",)
"""Cases with a model that linear algebra fits: its last bits belong to the processor."""


def spelled(value: Any) -> Any:
    """A value that JSON can hold: exact for integers, nine digits for floats, a digest for bytes."""
    if isinstance(value, dict):
        return {str(key): spelled(one) for key, one in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return spelled(value.tolist())
    if isinstance(value, (list, tuple)):
        return [spelled(one) for one in value]
    if isinstance(value, bytes):
        return f"{len(value)} bytes, sha256 {hashlib.sha256(value).hexdigest()[:16]}"
    if isinstance(value, float):
        return value if value.is_integer() else float(f"{value:.9g}")
    return value if value is None or isinstance(value, (bool, int, str)) else repr(value)


def sample(case: str) -> dict[str, str]:
    """Return what a case samples from its own secrets, and the digest of its certificate."""
    make, secrets, *_ = CASES[case]
    mechanism, given = make(), list(secrets)
    given *= -(-AT_LEAST // len(given))
    found = kept(mechanism.release(given, np.random.default_rng(SEED)))
    if case.startswith(SOLVED):
        return {"first": found["first"]}
    written = mechanism.certificate(np.random.default_rng(SEED)).to_json()
    return found | {"certificate": hashlib.sha256(written.encode()).hexdigest()}


def simulate() -> dict[str, dict[str, str]]:
    """Release one table with a column for every mechanism, as a simulation, and return what each column becomes."""
    columns, data, shown = [], {}, {}
    for place, (case, (column, _, arrays)) in enumerate(COLUMNS.items()):
        names_ = [f"c{place}_{part}" for part in range(len(arrays))]
        columns.append({**column, "name": names_ if len(names_) > 1 else names_[0]})
        shown[case] = names_
        for name, array in zip(names_, arrays, strict=True):
            data[name] = pa.concat_arrays([array] * -(-AT_LEAST // len(array)))[:AT_LEAST]
    policy = {"dataset": "all", "budget": {"epsilon": 10**6, "delta": "0.9"}, "floating": True, "columns": columns}
    released = nw.release(policy, pa.table(data), seed=SEED).data
    return {f"column: {case}": kept([released[name].to_pylist() for name in shown[case]]) for case in COLUMNS}


def kept(value: Any) -> dict[str, str]:
    """The beginning and the digest of a value, as the file has them."""
    text = json.dumps(spelled(value), ensure_ascii=False)
    return {"first": text[:LONGEST], "sha256": hashlib.sha256(text.encode()).hexdigest()}


def test_every_registered_mechanism_has_samples() -> None:
    names_kept = json.loads(FILE.read_text(encoding="utf-8"))
    assert set(names_kept) == {*CASES, *(f"column: {case}" for case in COLUMNS)}
    assert set(names()) <= {case.partition(",")[0] for case in names_kept}


def test_a_simulated_release_draws_the_same_columns() -> None:
    found = json.loads(FILE.read_text(encoding="utf-8"))
    simulated = simulate()
    assert simulated == {case: found[case] for case in simulated}


@pytest.mark.parametrize("case", CASES)
def test_a_seed_gives_the_same_samples_and_certificate(case: str) -> None:
    assert sample(case) == json.loads(FILE.read_text(encoding="utf-8"))[case]


def main() -> None:
    """Write the samples again."""
    found = {case: sample(case) for case in CASES} | simulate()
    FILE.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
