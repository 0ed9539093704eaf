"""Defects that are planted into a copy of the checker or of the phrase table, so that it is known what the attack would find.

``planted(defect, folder)`` gives the copy as a module; :func:`tests.attack.forge.forge` takes it as its ``tool``.
``planted_claims(defect, folder)`` gives copies of the readings and the prices of claims for :mod:`tests.attack.reading_prices`.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

from noisewright.certificates.checker import checker
from noisewright.claims import phrases

__all__ = ["DEFECTS", "DEFECTS_OF_CLAIMS", "planted", "planted_claims"]

DEFECTS: dict[str, tuple[str, str, str, str]] = {  # name: (documents that show it, file, what is there, what is put there)
    "an epsilon is rounded down": (
        *("law", "phrases.py", "return rounded(Fraction(value), ROUND_CEILING, digits)"),
        "return rounded(Fraction(value), ROUND_FLOOR, digits)",
    ),
    "a name can end its quotation marks": (
        *("release", "phrases.py", "c.isprintable() and c not in '\"\\\\' else", "c.isprintable() else"),
    ),
    "the number of rows is not said to be shown": (
        *("release", "phrases.py", 'shown = public_facts(record["neighbours"]) if count else ""', 'shown = ""'),
    ),
    "columns that are kept may differ": (
        *("release", "phrases.py", "    if same:\n", "    if False:\n"),
    ),
    "the order of rows is not said to be shown": (
        *("release", "phrases.py", 'if record["order"] is not None and record["order"] != "random":', "if False:"),
    ),
    "a limit is dropped": (
        *("law", "checker.py", '"steps" if between else "points-in-steps"', '"steps"'),
    ),
    "a simulation is not said to be one": (
        *("law", "checker.py", "if simulated(document[\"randomness\"]) else []", "if False else []"),
    ),
    "a scale may be too small by a hair": (
        *("law", "checker.py", "if scale <= 0 or allowed * scale < steps:"),
        "if scale <= 0 or allowed * scale * (1 + Fraction(1, 10**12)) < steps:",
    ),
    "e^x is a hair too large": (
        *("table", "checker.py", "    return total >> (work - precision)\n"),
        "    return (total >> (work - precision)) + (1 << precision) // 10**12\n",
    ),
    "another lattice than that of the noise": (
        *("law", "checker.py", 'if rounding and step != power_of_two(base["lattice"]):', "if False:"),
    ),
    "conditions of the claim are dropped": (
        *("law, conditions", "checker.py", '"conditions": claim.get("conditions", []),', '"conditions": [],'),
    ),
    "the draws that can show a person are not looked at": (
        *("pictures, places", "checker_release.py", '1 <= whole(secret.get("touching", 1)) <= draws', "draws >= 1"),
    ),
    "parts that are drawn in several turns": (
        *("pictures, places", "checker_release.py", "not any(count % draws for count in counts)", "True"),
    ),
    "the order of words is not in the clear": (
        *("documents, aligned", "checker_release.py", '({"word-order"} if order == "aligned" else set())', "set()"),
    ),
    "how often a unit is in a column is not looked at": (
        *("release, categories", "checker_release.py", 'part["times"] != rows or', "False or"),
    ),
    "a price covers one time only": (
        *("release, categories", "checker_release.py", "or price < times * loss", "or price < loss"),
    ),
    "a number may be one of kilometres": (
        *("release, numbers", "checker_release.py", '"number": {None: 1}', '"number": {None: 1, "kilometre": 1}'),
    ),
    "an hour has a minute": (
        *("release, times", "checker_release.py", '"hour": 3600', '"hour": 60'),
    ),
    "released rows may come and go": (
        *("release, numbers", "checker_release.py", 'if rowwise and relation != "same-rows" and document["parts"]:', "if False:"),
    ),
    "values from beyond the ends are any two values": (
        *("release, numbers", "checker_release.py", 'inside = stated or certificate.get("outside") != "keep"', "inside = True"),
    ),
}  # fmt: skip


DEFECTS_OF_CLAIMS: dict[str, tuple[str, str, str]] = {  # name: (file, what is there, what is put there)
    "an epsilon is rounded to the nearest": (
        "figures.py",
        "return _shown(value, digits, ROUND_CEILING)",
        "return _shown(value, digits, ROUND_HALF_EVEN)",
    ),
    "a distance is rounded to the nearest": (
        "figures.py",
        "return _shown(value, digits, ROUND_FLOOR)",
        "return _shown(value, digits, ROUND_HALF_EVEN)",
    ),
    "an excess of a part in 10^12 is not shown": (
        "figures.py",
        "    if isinstance(value, float):\n        exact *= Fraction(10**12 + (",
        "    if True:\n        exact *= Fraction(10**12 + (",
    ),
    "a percentage is rounded down": (
        *("figures.py", 'rounding: Literal["up", "nearest", "down"] = "up"'),
        'rounding: str = "down"',
    ),
    "near certainty is less than it is": (
        *("figures.py", 'return "practically 100 %" if shown == "100"'),
        'return "99.9 %" if shown == "100"',
    ),
    "the odds of a belief are those of one half": (
        *("totals.py", "factor * prior / (factor * prior + 1 - prior)"),
        "factor * prior / (factor * prior + 1)",
    ),
    "a guess leaves delta out": ("totals.py", "(factor + delta) / (factor + 1)", "factor / (factor + 1)"),
    "a total leaves delta out": ("totals.py", 'f", delta = {upward(delta)}" if delta else ""', '""'),
    "each of several rows costs less": ("totals.py", 'f", for each of {rows} rows"', 'f", for {rows} rows"'),
    "a belief of less than 1 %": (
        *("totals.py", "percent(Fraction(posterior(epsilon, prior)))"),
        "percent(Fraction(posterior(epsilon, prior * Fraction(100, 101))))",
    ),
    "a reading for another distance": ("readings.py", "size, unit = 1 / factor,", "size, unit = factor,"),
    "a distance of a reading is rounded up": (
        *("readings.py", 'many = figure(size, 4, "down")'),
        'many = figure(size, 4, "up")',
    ),
    "a scaled discrete metric is not": ("readings.py", "epsilon if alone else epsilon * factor", "epsilon"),
    "a reading leaves delta out": ("readings.py", 'f", delta {upward(delta, 3)}" if delta else ""', '""'),
    "a reading leaves conditions out": (
        *("readings.py", '"".join(phrases.conditions(record["conditions"]))'),
        '""',
    ),
    "a reading leaves the cost of one person out": ("readings.py", "return text + phrases.share(record)", "return text"),
    "the rounding of places is not said": ("readings.py", 'if "lattice" in metric:', "if False:"),
    "the level of places is a hair too low": (
        *("readings.py", 'bound = float_up(Fraction(level["level"]))'),
        'bound = 0.999 * float(Fraction(level["level"]))',
    ),
    "all bits of a hash cost one": (
        *("readings.py", "by at most e^{upward(epsilon * bits, 4)}."),
        "by at most e^{upward(epsilon, 4)}.",
    ),
    "a distance of profiles is rounded up": (
        *("readings.py", "{downward(record['distance'])}"),
        "{upward(record['distance'])}",
    ),
    "a training that did not converge": (
        *("readings.py", '+ ("" if record["converged"] else "; its training did NOT converge")'),
        "",
    ),
    "single records are not spoken of": ("readings.py", "single records may be", "records may be"),
}  # fmt: skip


def planted_claims(name: str | None, folder: Path) -> SimpleNamespace:
    """Return copies of the modules of claims with this defect, or with none, in a package of an empty folder."""
    package = f"planted_claims_{len(sys.modules)}"
    home = folder / package
    shutil.copytree(Path(str(phrases.__file__)).parent, home, ignore=shutil.ignore_patterns("__pycache__"))
    if name is not None:
        _exchange(home, *DEFECTS_OF_CLAIMS[name])
    for path in home.glob("*.py"):
        path.write_text(path.read_text().replace("noisewright.claims", package))
    sys.path.insert(0, str(folder))
    try:
        return SimpleNamespace(
            readings=importlib.import_module(f"{package}.readings"), totals=importlib.import_module(f"{package}.totals")
        )
    finally:
        sys.path.remove(str(folder))


def _exchange(folder: Path, file: str, before: str, after: str) -> None:
    """Exchange a text that a file has once."""
    text = (folder / file).read_text()
    if text.count(before) != 1:
        raise ValueError(f"{file} has the text to exchange {text.count(before)} times; state another one: {before!r}.")
    (folder / file).write_text(text.replace(before, after))


def planted(name: str | None, folder: Path) -> ModuleType:
    """Return a copy of the checker with this defect, or with none, in an empty folder; its other files have digests that fit."""
    for path in (*Path(str(checker.__file__)).parent.glob("checker*.py"), Path(str(phrases.__file__))):
        shutil.copy(path, folder)
    if name is not None:
        _exchange(folder, *DEFECTS[name][1:])
    main = (folder / "checker.py").read_text()
    for other in checker.BESIDE:
        found = hashlib.sha256((folder / other).read_bytes()).hexdigest()
        main = main.replace(checker.BESIDE[other], found)
    (folder / "checker.py").write_text(main)
    spec = importlib.util.spec_from_file_location(f"planted_{len(sys.modules)}", folder / "checker.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
