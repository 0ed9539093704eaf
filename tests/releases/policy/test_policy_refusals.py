"""Policies that cannot be followed: one sentence for each problem, with its line, all of them at once."""

from __future__ import annotations

import pickle
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisewright.exceptions import PolicyError
from noisewright.mechanisms.registry import names
from noisewright.policy.parameters import offered
from noisewright.policy.policy import ColumnPolicy, Policy, QueryPolicy

HEAD = 'dataset = "clinic"\n[budget]\nepsilon = 3\n'
AGE = '[[columns]]\nname = "age"\n'
LAPLACE = AGE + 'mechanism = "laplace"\nwithin = [0, 120]\nepsilon = 1\n'
COUNT = '[[queries]]\nname = "n"\naggregate = "count"\nepsilon = 1\n'
MEAN = '[[queries]]\nname = "m"\ncolumn = "age"\nepsilon = 1\naggregate = "mean"\nwithin = [0, 120]\n'
BINS = '[[queries]]\nname = "h"\ncolumn = "age"\nepsilon = 1\naggregate = "histogram"\n'


def problems(text: str) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text, name="p")
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        # the whole
        (
            HEAD,
            "p, line 1: columns is missing: nothing would be released; write at least one [[columns]] or [[queries]].",
        ),
        (LAPLACE + HEAD[19:], 'p, line 1: dataset is missing; write dataset = "clinic".'),
        ('dataset = "clinic"\n' + COUNT, "p, line 1: budget is missing; write [budget] and below it epsilon = 3."),
        ("flaoting = true\n" + HEAD + COUNT, "p, line 1: flaoting = true is not a known key; did you mean floating?"),
        (
            "zzz = 1\n" + HEAD + COUNT,
            "p, line 1: zzz = 1 is not a known key; choose one of dataset, budget, data, unit, neighbours, ledger, types, "
            "floating, order, columns, queries.",
        ),
        (
            'order = "kept"\n' + HEAD + COUNT,
            'p, line 1: order = "kept" is that of released rows, and there are no [[columns]]; remove it.',
        ),
        ('floating = "yes"\n' + HEAD + COUNT, 'p, line 1: floating = "yes" must be true or false, without quotes.'),
        (
            HEAD.replace("clinic", " ") + COUNT,
            'p, line 1: dataset = " " must not be empty; write a name or remove the key.',
        ),
        (
            HEAD.replace("clinic", "a\\u001bb") + COUNT,
            'p, line 1: dataset = "a\\x1bb" holds control characters, which a screen would follow; write a name such as clinic.',
        ),
        (
            'neighbours = "remove"\n' + HEAD + COUNT,
            'p, line 1: neighbours = "remove" must be "replace" or "add-remove".',
        ),
        (
            'neighbours = "add-remove"\n' + HEAD + LAPLACE,
            'p, line 1: neighbours = "add-remove" does not go with [[columns]]: a released table shows how many rows there '
            'are, so a unit cannot be hidden by leaving it out; write neighbours = "replace".',
        ),
        (
            'columns = ["age"]\n' + HEAD,
            'p, line 1: columns[0] = "age" must be a table; write [[columns]] and its keys on the lines below.',
        ),
        (
            HEAD + LAPLACE.replace("[[columns]]", "[columns]"),
            "p, line 4: columns must be a list of tables; write [[columns]] with two brackets on each side.",
        ),
        # budget
        (
            'dataset = "clinic"\nbudget = 3\n' + COUNT,
            "p, line 2: budget = 3 must be a table; write [budget] and its keys on the lines below.",
        ),
        (
            HEAD + "delta = 1\n" + COUNT,
            "p, line 4: budget.delta = 1 must be at least 0 and below 1; write a small number such as 1e-6.",
        ),
        (
            HEAD + COUNT.replace("1", "2.5") + LAPLACE,
            "p, line 3: budget.epsilon = 3 is less than the 3.5 that the columns and queries ask for together; lower some "
            "of them, leave some out, or raise the budget.",
        ),
        (
            HEAD + COUNT + '[unit]\ncolumn = "id"\nrows = 3\n' + LAPLACE,
            "p, line 3: budget.epsilon = 3 is less than the 4 that the columns and queries ask for together (each column "
            "counts 3 times, once for each row of a unit); lower some of them, leave some out, or raise the budget.",
        ),
        (
            HEAD + "delta = 1e-7\n" + LAPLACE.replace("laplace", "gaussian") + "delta = 1e-6\n",
            "p, line 4: budget.delta = 1E-7 is less than the 0.000001 that the columns and queries ask for together; lower "
            "some of them, leave some out, or raise the budget.",
        ),
        # unit and ledger
        (
            HEAD + "[unit]\nrows = 2\n" + COUNT,
            'p, line 4: unit.column is missing: rows = 2 needs to know whose rows they are; write column = "patient".',
        ),
        (
            HEAD + "[unit]\nrows = 0\n" + COUNT,
            "p, line 5: unit.rows = 0 must be a whole number from 1 on; write one such as 3.",
        ),
        (HEAD + "[unit]\nrow = 3\n" + COUNT, "p, line 5: unit.row = 3 is not a known key; did you mean rows?"),
        (HEAD + '[unit]\nexcess = "drop"\n' + COUNT, 'p, line 5: unit.excess = "drop" must be "refuse" or "first".'),
        (
            HEAD + '[ledger]\nscope = "unit"\n' + COUNT,
            'p, line 5: ledger.scope = "unit" needs to know the units; write unit.column = "patient", or scope = "dataset".',
        ),
        # columns
        (
            HEAD + LAPLACE.replace("1\n", "-1\n"),
            "p, line 8: columns[0].epsilon = -1 must be greater than 0; write a number such as 0.5.",
        ),
        (
            HEAD + LAPLACE.replace("= 1\n", '= "one"\n'),
            'p, line 8: columns[0].epsilon = "one" must be a number; write it like 0.5 or "1/2".',
        ),
        (
            HEAD + LAPLACE + AGE + "keep = true\n",
            'p, line 10: columns[1].name = "age" holds "age", which an earlier column holds; name it once.',
        ),
        (
            HEAD + LAPLACE + '[[columns]]\nname = "b"\nkeep = true\nrename = "age"\n',
            'p, line 12: columns[1].rename = "age" gives an output column the name of an earlier one; choose another.',
        ),
        (
            HEAD + '[[columns]]\nname = ["a", "b"]\nrename = ["c", "c"]\nkeep = true\n',
            'p, line 6: columns[0].rename = ["c", "c"] holds a name twice; write each name once.',
        ),
        (
            HEAD + '[[columns]]\nname = ["a", "b"]\nrename = "c"\nkeep = true\n',
            'p, line 6: columns[0].rename = "c" must have the form of name; write one name for one, or a list for a list.',
        ),
        (
            HEAD + "[[columns]]\nname = []\nkeep = true\n",
            'p, line 5: columns[0].name = [] must not be empty; write a name such as "age", or several such as ["lat", "lon"].',
        ),
        (
            HEAD + '[[columns]]\nname = ["a", ""]\nkeep = true\n',
            'p, line 5: columns[0].name[1] = "" must not be empty; write a name or remove the key.',
        ),
        (
            HEAD + AGE + "keep = true\nepsilon = 1\n",
            "p, line 7: columns[0].epsilon = 1 does nothing to a kept column, which is released as it is; remove it, or "
            "remove keep = true.",
        ),
        (
            HEAD + AGE + "keep = true\nwithin = [0, 1]\n",
            "p, line 7: columns[0].within = [0, 1] does nothing to a kept column, which is released as it is; remove it, or "
            "remove keep = true.",
        ),
        (
            HEAD + LAPLACE.replace("laplace", "laplas"),
            'p, line 6: columns[0].mechanism = "laplas" is not a mechanism; did you mean laplace?',
        ),
        (
            HEAD + LAPLACE.replace("epsilon = 1\n", ""),
            "p, line 4: columns[0].epsilon is missing; write epsilon = 1, the loss between two values that are protected "
            "from each other.",
        ),
        (
            HEAD + LAPLACE + "sensitivity = 2\n",
            "p, line 9: columns[0].sensitivity = 2 is set by protect; write protect = 2, the distance within which two values "
            "are to look alike.",
        ),
        (
            HEAD + LAPLACE + "level = 2\n",
            "p, line 9: columns[0].level = 2 is set by epsilon; write epsilon = 2, the loss between two values that are "
            "protected from each other.",
        ),
        (
            HEAD + LAPLACE + "radius = 2\n",
            "p, line 9: columns[0].radius = 2 is set by protect; write protect = 2, the distance within which two values are "
            "to look alike.",
        ),
        (
            HEAD + LAPLACE + "upper = 2\n",
            "p, line 9: columns[0].upper = 2 is not known here: laplace takes within, excluding, scope, margin, shape, "
            "outside, lattice; did you mean within?",
        ),
        (
            HEAD
            + '[[columns]]\nname = ["lng", "lat"]\nmechanism = "geo-laplace"\nreference = [48, 2]\nprotect = 5\nepsilon = 1\n',
            'p, line 5: columns[0].name = ["lng", "lat"] has the longitude first, and geo-laplace takes the latitude first; '
            'write name = ["lat", "lng"].',
        ),
        (
            HEAD + LAPLACE + "marginn = 2\n",
            "p, line 9: columns[0].marginn = 2 is not known here: laplace takes within, excluding, scope, margin, shape, "
            "outside, lattice; did you mean margin?",
        ),
        (
            HEAD + LAPLACE + 'scope = "both"\n',
            'p, line 9: columns[0].scope = "both" must be "metric" or "adjacent".',
        ),
        (
            HEAD + LAPLACE.replace("[0, 120]", '"data"'),
            'p, line 7: columns[0].within = "data" must be two numbers that are public: a range found in the data would give '
            "its extreme values away; write the lowest and the highest value that are possible, such as [0, 120].",
        ),
        (
            HEAD + LAPLACE.replace("[0, 120]", "[120, 0]"),
            "p, line 7: columns[0].within = [120, 0] must have its lower end first; write a range such as [0, 120].",
        ),
        (
            HEAD + LAPLACE.replace("[0, 120]", "[\n  [0, 1],\n  [3, 2]]"),
            "p, line 9: columns[0].within[1] = [3, 2] must have its lower end first; write a range such as [0, 120].",
        ),
        (
            HEAD + LAPLACE.replace("[0, 120]", "[0, 2024-01-01]"),
            "p, line 7: columns[0].within = [0, 2024-01-01] must have two ends of one kind; write two numbers, two dates or "
            "two times.",
        ),
        (
            HEAD + LAPLACE.replace("[0, 120]", "[inf, 0]"),
            "p, line 7: columns[0].within = [Infinity, 0] must have ends that are numbers or dates (inf for an open upper "
            "end, -inf for an open lower one).",
        ),
        (
            HEAD + LAPLACE.replace("within = [0, 120]\n", ""),
            "p, line 4: columns[0].protect is missing: any two values are protected only where they have a range; write "
            "within = [0, 120], or a distance such as protect = 5.",
        ),
        (
            HEAD + LAPLACE.replace("[0, 120]", "[0, inf]") + 'protect = "any"\n',
            'p, line 9: columns[0].protect = "any" is not enough: any two values are protected only where they have a range; '
            "write within = [0, 120], or a distance such as 5.",
        ),
        (
            HEAD + LAPLACE + "protect = 0\n",
            'p, line 9: columns[0].protect = 0 must be a distance greater than 0 or "any"; write a number such as 5 (of '
            'places, in metres), or "7 days" (or hours, minutes, seconds).',
        ),
        (
            HEAD + '[[columns]]\nname = ["a", "b"]\nmechanism = "planar-laplace"\nepsilon = 1\n',
            "p, line 4: columns[0].protect is missing: planar-laplace needs a distance; write protect = 500, within which "
            "two places are to look alike.",
        ),
        (
            HEAD + AGE + 'mechanism = "randomised-response"\nepsilon = 1\n',
            'p, line 4: columns[0].categories is missing: randomised-response needs it; write categories = ["yes", "no"].',
        ),
        (
            HEAD + AGE + 'mechanism = "metric-realising"\npoints = [1, 2]\nmetric = "lines"\nepsilon = 1\n',
            "p, line 8: columns[0].metric = \"lines\" is refused: there is no metric called 'lines'; choose one of discrete, "
            "line, euclidean, manhattan, hamming, angular.",
        ),
        (
            HEAD + LAPLACE.replace("laplace", "gaussian"),
            "p, line 4: columns[0].delta is missing: gaussian needs one above 0; write delta = 1e-6.",
        ),
        (
            HEAD + LAPLACE + "delta = 1e-6\n",
            "p, line 9: columns[0].delta = 0.000001 is not for laplace, which promises a delta of 0; remove it.",
        ),
        (
            HEAD + LAPLACE + 'missing = "keep"\nfill = 3\n',
            'p, line 10: columns[0].fill = 3 does not go with missing = "keep"; remove one of them.',
        ),
        (
            HEAD + LAPLACE + "fill = nan\n",
            "p, line 9: columns[0].fill = NaN must be a finite number; write a number such as 0.5.",
        ),
        # queries
        (
            HEAD + COUNT + 'column = "age"\n',
            'p, line 8: queries[0].column = "age" is not for aggregate = "count"; remove it; use where to choose rows.',
        ),
        (
            HEAD + MEAN.replace('column = "age"\n', ""),
            'p, line 4: queries[0].column is missing: aggregate = "mean" needs it; write column = "age".',
        ),
        (
            HEAD + MEAN.replace("within = [0, 120]\n", "").replace("mean", "sum"),
            'p, line 4: queries[0].within is missing: aggregate = "sum" needs it; write within = [0, 120].',
        ),
        (
            HEAD + MEAN.replace("[0, 120]", '"data"'),
            'p, line 9: queries[0].within = "data" must be two numbers that are public: a range found in the data would give '
            "its extreme values away; write the lowest and the highest value that are possible, such as [0, 120].",
        ),
        (
            HEAD + MEAN.replace("[0, 120]", "[0, 0]"),
            "p, line 9: queries[0].within = [0, 0] must be two numbers or two dates, the lower one first; write a public range "
            "such as [0, 120].",
        ),
        (
            HEAD + MEAN + "weights = [1, 2, 3]\n",
            "p, line 10: queries[0].weights = [1, 2, 3] must have 2 numbers, because a mean is made of a sum and a count; "
            "write [1, 1].",
        ),
        (
            HEAD + MEAN.replace("mean", "variance") + "weights = [1, 2]\n",
            "p, line 10: queries[0].weights = [1, 2] must have 3 numbers, because a variance is made of a sum of squares, a "
            "sum and a count; write [1, 1, 1].",
        ),
        (
            HEAD + MEAN + "weights = [\n1,\n0]\n",
            "p, line 12: queries[0].weights[1] = 0 must be greater than 0; write a number such as 0.5.",
        ),
        (
            HEAD + MEAN.replace("mean", "quantile"),
            'p, line 4: queries[0].quantile is missing: aggregate = "quantile" needs it; write quantile = 0.5.',
        ),
        (
            HEAD + MEAN.replace("mean", "quantile") + "quantile = 1\n",
            "p, line 10: queries[0].quantile = 1 must be between 0 and 1, without them; write 0.5 for the median.",
        ),
        (
            HEAD + BINS,
            "p, line 4: queries[0].values is missing: a histogram needs public values or bins; write values = "
            '["yes", "no"] or bins = [0, 18, 65, 120].',
        ),
        (
            HEAD + BINS + "bins = 3\n",
            "p, line 4: queries[0].within is missing: 3 bins of equal width need a range; write within = [0, 120].",
        ),
        (
            HEAD + BINS + "bins = [0, 2, 1]\n",
            "p, line 9: queries[0].bins = [0, 2, 1] must be a whole number or rising edges; write bins = 10 or bins = "
            "[0, 18, 65, 120].",
        ),
        (
            HEAD + BINS + "bins = [0, 1]\nvalues = [1]\n",
            "p, line 9: queries[0].bins = [0, 1] and values exclude each other; remove one of them.",
        ),
        (
            HEAD + BINS + "values = [1, 1]\n",
            "p, line 9: queries[0].values = [1, 1] holds a value twice; write each value once.",
        ),
        (
            HEAD + COUNT + 'by = ["ward"]\n',
            'p, line 8: queries[0].by = ["ward"] must be a table of columns, because the groups that exist in the data are '
            'not public; write the public values of every group, such as by = { ward = ["north", "south"] }.',
        ),
        (
            HEAD + COUNT + "[queries.by]\nward = []\n",
            'p, line 9: queries[0].by.ward = [] must not be empty; write the public values, such as ["yes", "no"].',
        ),
        (
            HEAD + COUNT + COUNT,
            'p, line 9: queries[1].name = "n" is the name of an earlier query; choose another.',
        ),
        (
            HEAD + COUNT + 'mechanism = "geometrick"\n',
            'p, line 8: queries[0].mechanism = "geometrick" is not a mechanism; did you mean geometric?',
        ),
        (
            HEAD + COUNT.replace("epsilon = 1\n", ""),
            "p, line 4: queries[0].epsilon is missing; write epsilon = 1.",
        ),
        (
            HEAD + COUNT + 'where = ""\n',
            'p, line 8: queries[0].where = "" must not be empty; write a name or remove the key.',
        ),
    ],
)
def test_one_problem_is_told_in_one_sentence(text: str, sentence: str) -> None:
    assert problems(text) == [sentence]


def test_a_column_without_a_mechanism_is_told_all_of_them() -> None:
    (told,) = problems(HEAD + AGE + "epsilon = 1\n")
    assert told.startswith('p, line 4: columns[0].mechanism is missing; write mechanism = "laplace" (or ')
    assert all(name in told for name in offered())
    assert told.endswith("or keep = true to release the column unprotected.")


MANY = """\
dataset = "clinic"
neighbours = "add-remove"
flaoting = true
[budget]
epsilon = 3
[unit]
rows = 3
[[columns]]
name = "age"
mechanism = "laplace"
sensitivity = 1
within = "data"
epsilon = -1
[[columns]]
name = ["lat", "lon"]
mechanism = "geo-laplce"
[[columns]]
name = "age"
keep = true
epsilon = 1
[[queries]]
name = "mean"
aggregate = "mean"
epsilon = 0.1
weights = [1, 2, 3]
by = ["ward"]
"""


def test_all_problems_are_told_at_once_in_the_order_of_their_lines() -> None:
    found = problems(MANY)
    told = [(int(p.split("line ")[1].split(":")[0]), p.split(": ")[1].split()[0]) for p in found]
    assert told == [
        (2, "neighbours"),
        (3, "flaoting"),
        (6, "unit.column"),
        (11, "columns[0].sensitivity"),
        (12, "columns[0].within"),
        (13, "columns[0].epsilon"),
        (16, "columns[1].mechanism"),
        (18, "columns[2].name"),
        (20, "columns[2].epsilon"),
        (21, "queries[0].column"),
        (21, "queries[0].within"),
        (25, "queries[0].weights"),
        (26, "queries[0].by"),
    ]


def test_the_error_is_the_first_problem_and_how_many_more() -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(MANY, name="p")
    error = caught.value
    assert str(error) == f"{error.problems[0]} (and 12 more problems)"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems) == (str(error), error.problems)
    assert str(PolicyError("One.", "Two.")) == "One. (and 1 more problem)"


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("keep = 1\n", ["keep"]),  # and not that a mechanism is missing
        ('mechanism = "laplace"\nepsilon = 1\nwithin = 3\n', ["within"]),  # and not that protect is
        ('mechanism = 3\ncategories = ["a"]\nepsilon = 1\n', ["mechanism"]),  # and not that categories are unknown
    ],
)
def test_nothing_is_called_missing_because_of_another_problem(part: str, told: list[str]) -> None:
    assert [p.split("columns[0].")[1].split()[0] for p in problems(HEAD + AGE + part)] == told


def test_a_budget_that_is_exactly_used_is_enough() -> None:
    tenths = [{"name": f"n{i}", "aggregate": "count", "epsilon": 0.1} for i in range(10)]
    assert Policy.from_dict({"dataset": "d", "budget": {"epsilon": 1}, "queries": tenths}).budget.epsilon == 1
    with pytest.raises(PolicyError, match=r"budget.epsilon = 1 is less than the 1.1 that"):
        Policy.from_dict(
            {"dataset": "d", "budget": {"epsilon": 1}, "queries": [*tenths, {**tenths[0], "name": "last"}]}
        )


def test_values_that_a_dictionary_may_hold_and_a_file_may_not() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value in (loop, {1: 2}, object(), b"x", "\ud800", 10**3000, 1j, {"a"}, Decimal("sNaN"), Decimal("1e999999")):
        for key in ("lattice", "within", "points", "epsilon", "name", "fill", "rename"):
            mechanism = "uniform" if key == "points" else "laplace"
            column = {"name": "a", "mechanism": mechanism, "epsilon": 1, "protect": 1, key: value}
            with pytest.raises(PolicyError, match=rf"^policy: columns\[0\]\.{key}"):
                Policy.from_dict({"dataset": "d", "budget": {"epsilon": 1}, "columns": [column]})


@pytest.mark.parametrize(
    "data", [None, [], "x" * 10, {1: 2}, {"budget": {3: 4}}, {"columns": [{5: 6}]}, {"columns": {}}]
)
def test_data_that_is_no_policy(data: Any) -> None:
    with pytest.raises(PolicyError, match=r"^policy: "):
        Policy.from_dict(data)


# --- anything at all ---------------------------------------------------------------------------------------------------

WORDS = st.one_of(
    st.sampled_from([*Policy.model_fields, *ColumnPolicy.model_fields, *QueryPolicy.model_fields]),
    st.sampled_from(
        ["within", "excluding", "categories", "points", "metric", "sensitivity", "lattice", "rows", "scope"]
    ),
    st.text(max_size=5),
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.decimals(),
    st.fractions(),
    st.dates(min_value=date(1, 1, 2)),
    st.datetimes(min_value=datetime(1, 1, 2)),
    st.times(),
    st.text(max_size=8),
    st.sampled_from(
        ["laplace", "uniform", "geo-laplace", "gaussian", "mean", "histogram", "any", "keep", "1/2", "data", "0..3"]
    ),
    st.binary(max_size=3),
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=12,
)
COLUMNS = st.fixed_dictionaries(
    {"name": st.one_of(st.text(min_size=1, max_size=3), ANYTHING)},
    optional={
        "mechanism": st.one_of(st.sampled_from(names()), ANYTHING),
        "epsilon": st.one_of(st.sampled_from([1, 0.5, "1/3"]), ANYTHING),
        "within": st.one_of(st.lists(LEAVES, min_size=2, max_size=2), ANYTHING),
        "excluding": st.one_of(st.lists(st.lists(LEAVES, min_size=2, max_size=2), max_size=2), ANYTHING),
        "protect": ANYTHING,
        "points": ANYTHING,
        "categories": ANYTHING,
        "lattice": ANYTHING,
        "keep": ANYTHING,
        "fill": ANYTHING,
    },
)
POLICIES = st.one_of(
    st.dictionaries(WORDS, ANYTHING, max_size=6),
    st.fixed_dictionaries(
        {"dataset": st.just("d"), "budget": st.just({"epsilon": 1})},
        optional={
            "columns": st.lists(COLUMNS, max_size=3),
            "queries": st.lists(st.dictionaries(WORDS, ANYTHING, max_size=6), max_size=3),
            "unit": ANYTHING,
        },
    ),
)


def read(data: dict[str, Any]) -> tuple[Policy | None, tuple[str, ...]]:
    try:
        return Policy.from_dict(data), ()
    except PolicyError as error:
        return None, error.problems


@given(POLICIES)
def test_whatever_is_given_is_a_policy_or_is_refused_in_sentences(data: dict[str, Any]) -> None:
    policy, problems = read(data)
    assert (policy is None) == bool(problems)
    for problem in problems:
        assert problem.startswith("policy: ")
        assert problem[-1] in ".?"
        assert "\n" not in problem
    if policy is not None:
        assert len(policy.digest()) == 64
        assert Policy.from_dict(policy.to_json()).digest() == policy.digest()


@given(st.text(max_size=60))
def test_whatever_text_is_given_is_refused_in_sentences(text: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Policy.from_toml(text, name="p")
    assert all(problem.startswith("p, line ") for problem in caught.value.problems)
