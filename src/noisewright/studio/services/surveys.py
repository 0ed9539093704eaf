"""Surveys on sensitive questions: the device for a guarantee, the shares behind counted answers, the population behind
reports.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from noisewright.claims.figures import numeral, upward
from noisewright.cli.parameters import read_labels
from noisewright.engines.report_counts import count_into
from noisewright.estimation.mixture import Mixture
from noisewright.estimation.result import Estimate
from noisewright.exceptions import ParameterError
from noisewright.io.serialization import load_either, save
from noisewright.mechanisms.numeric.geometric import geometric
from noisewright.numerics.exact import as_fraction
from noisewright.surveys.planning import Shares, Survey, survey

__all__ = [
    "DEVICES",
    "EXAMPLE",
    "FLAGS",
    "READERS",
    "counted",
    "estimate_code",
    "estimated",
    "example_reports",
    "option_table",
    "plan_code",
    "planned_survey",
]


DEVICES = ("coins", "dice", "cards", "spinner")
FLAGS = ("whole_population", "allow_certain_disclosure")
READERS = {
    ".csv": ("csv", "read_csv"),
    ".parquet": ("parquet", "read_table"),
    ".jsonl": ("json", "read_json"),
    ".arrow": ("feather", "read_table"),
    ".feather": ("feather", "read_table"),
}
"""Readers of the tables that hold reports, by their endings."""
EXAMPLE = {"epsilon": "1", "respondents": "1000", "prevalence": "0.1"}


def planned_survey(given: Mapping[str, str]) -> Survey:
    """Return the plan for the typed values; empty fields take the library's defaults."""
    return survey(**_arguments(given))


def _arguments(given: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, text in given.items():
        typed = text.strip()
        if key in FLAGS:
            found[key] = True
        elif not typed:
            continue
        elif key == "respondents":
            if not re.fullmatch(r"[0-9]{1,12}", typed):
                raise ParameterError(f"respondents = {typed!r} must be a whole number, such as 1000.")
            found[key] = int(typed)
        elif key == "categories":
            found[key] = int(typed) if re.fullmatch(r"[0-9]{1,4}", typed) else list(read_labels(typed, key))
        elif key == "device":
            found[key] = typed
        else:
            as_fraction(typed, key.replace("_", " "))  # refuses anything except a number, by its name
            found[key] = typed
    return found


def plan_code(given: Mapping[str, str], counts: Sequence[str] = ()) -> str:
    """Return lines of Python for the same plan, and for the shares behind these counts of each answer."""
    told = ", ".join(f"{key}={value!r}" for key, value in _arguments(given).items())
    return (
        "import noisewright as nw\n\n"
        f"plan = nw.survey({told})\n"
        "print(plan.device.instruction())\n"
        'nw.save(plan.certificate(), "device.json")'
        + (f"\nprint(plan.estimate([{', '.join(counts)}]))" if counts else "")
    )


def option_table(plan: Survey) -> tuple[list[str], list[list[str]]]:
    """The ways to ask next to each other: what each guarantees, how exact it is, and how many people it needs."""
    head = ["way to ask", "epsilon", f"± for {plan.respondents:,}"]
    head += [] if plan.target_margin is None else [f"needed for ± {numeral(plan.target_margin)}"]
    head += [] if plan.prevalence is None else [f"belief after {plan.device.answers[-1]}"]
    rows = []
    for row in plan.options():
        chosen = " (chosen)" if row.name == plan.device.instrument.name else ""
        cells = [row.name + chosen, "none" if math.isinf(row.epsilon) else upward(row.epsilon, 4), f"{row.margin:.4f}"]
        if plan.target_margin is not None:
            cells.append("too many" if row.needed is None else f"{row.needed:,}")
        cells += [] if row.violation is None else [f"{row.violation:.3f}"]
        rows.append(cells)
    return head, rows


def counted(plan: Survey, typed: Mapping[str, str]) -> Shares:
    """The shares behind the numbers of answers, by the text of each answer."""
    counts = []
    for answer in plan.device.answers:
        text = typed.get(str(answer), "").strip() or "0"
        if not re.fullmatch(r"[0-9]{1,12}", text):
            raise ParameterError(f"how often {str(answer)!r} was said must be a whole number, such as 320.")
        counts.append(int(text))
    return plan.estimate(counts)


# From reports -------------------------------------------------------------------------------------------------------------


def estimated(reports: str, mechanism: str, asked: Mapping[str, str]) -> Estimate:
    """The population behind the reports in a table, with intervals; ``mechanism``: the file of what made them."""
    mixture = Mixture({reports: load_either(mechanism)}, _range(asked.get("within", "")))
    count_into(mixture, [reports], asked.get("column", "").strip() or None, None, engine="local")
    sure = float(as_fraction(asked.get("confidence", "").strip() or "0.95", "confidence"))
    return mixture.estimate(intervals="asymptotic", confidence=sure)


def _range(text: str) -> tuple[int, int] | None:
    if not text.strip():
        return None
    found = re.fullmatch(r"\s*(-?\d{1,16})\s*:\s*(-?\d{1,16})\s*", text, re.ASCII)
    if found is None:
        raise ParameterError(f"within = {text!r} must be two whole numbers, such as 0:100.")
    return int(found[1]), int(found[2])


def estimate_code(reports: str, mechanism: str, asked: Mapping[str, str]) -> str:
    """Lines of Python for the same estimate."""
    column = asked.get("column", "").strip()
    within = _range(asked.get("within", ""))
    more = "" if within is None else f", within={within}"
    sure = asked.get("confidence", "").strip()
    more += f", confidence={sure!r}" if sure and sure != "0.95" else ""
    module, read = READERS.get(Path(reports).suffix.lower(), READERS[".csv"])
    return (
        f"import noisewright as nw\nfrom pyarrow import {module}\n\n"
        f"reports = {module}.{read}({reports!r}).column({column or 0!r})\n"
        f'found = nw.estimate(reports, nw.load({mechanism!r}), intervals="asymptotic"{more})\n'
        "print(found.table())"
    )


def example_reports(folder: Path) -> tuple[Path, Path]:
    """Made-up reports and what made them: hours of sport in a week, of 20,000 people, through geometric noise."""
    rng = np.random.default_rng(3)
    truth = np.where(rng.random(20_000) < 0.35, 0, np.clip(rng.poisson(5, 20_000), 0, 15))
    mechanism = geometric(epsilon=1, within=(0, 15))
    said = np.asarray(mechanism.release(truth, rng))
    reports, made_by = folder / "reports.csv", folder / "mechanism.json"
    reports.write_text("hours\n" + "\n".join(map(str, said.tolist())) + "\n", encoding="utf-8")
    save(mechanism.certificate(), made_by)
    return reports, made_by
