"""What a budget means, and that it keeps its meaning: protected distances, one transaction, names."""

from __future__ import annotations

import json
import sqlite3
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisewright.claims import phrases
from noisewright.exceptions import BudgetError, LedgerError, ParameterError
from noisewright.ledger.ledger import Ledger
from noisewright.ledger.records import Charge, Protected, Terms, check_name

ROW = {"relation": "same-rows", "unit": None, "rows": 1}
ANY = None


@pytest.fixture
def ledger(tmp_path):
    found = Ledger(tmp_path / "ledger.sqlite")
    found.set_budget("clinic", 100, between=ROW)
    return found


def age(distance, unit="", columns=("age",), epsilon=1):
    asked = Protected(columns, None if distance is None else Fraction(distance), unit)
    return Charge(" and ".join(columns), "column", Fraction(epsilon), Fraction(0), asked.words, asked)


def inside(path):
    return sqlite3.connect(path, isolation_level=None)


# Protected distances ------------------------------------------------------------------------------------------------------


def test_a_smaller_protected_distance_is_refused_and_nothing_is_recorded(ledger):
    """Two prices of 1, between ages 110 apart and between ages a thousandth apart, are not 2 between anything."""
    ledger.spend("clinic", [age(110)], "first", "")
    before = ledger.remaining("clinic"), ledger.entries("clinic")
    with pytest.raises(
        LedgerError,
        match=r"is about values at most 110 apart in 'age', and this release would protect values at most 0\.001 apart in 'age', "
        r"which is less or cannot be compared; protect what is recorded, or more\. Another dataset name is for data",
    ):
        ledger.spend("clinic", [age("1/1000")], "second", "")
    assert (ledger.remaining("clinic"), ledger.entries("clinic")) == before
    assert ledger.remaining("clinic").spent_epsilon == 1
    ledger.set_budget("other name", 5, between=ROW)
    ledger.spend("other name", [age("1/1000")], "second", "")  # which has a meaning of its own


def test_a_larger_one_counts_in_full_and_the_recorded_one_stays(ledger):
    ledger.spend("clinic", [age(5)], "first", "")
    ledger.spend("clinic", [age(7)], "second", "")
    ledger.spend("clinic", [age(ANY)], "third", "")
    ledger.spend("clinic", [age(5)], "fourth", "")
    assert ledger.remaining("clinic").spent_epsilon == 4
    assert ledger.protections("clinic") == [Protected(("age",), Fraction(5))]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.one_of(st.none(), st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50)),
        min_size=1,
        max_size=6,
    )
)
def test_a_column_is_recorded_exactly_when_it_protects_at_least_what_the_first_did(tmp_path_factory, distances):
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "l")
    ledger.set_budget("d", 100)
    first, allowed = distances[0], 0
    for number, distance in enumerate(distances):
        if distance is None or (first is not None and distance >= first):
            ledger.spend("d", [age(distance)], str(number), "")
            allowed += 1
        else:
            with pytest.raises(LedgerError, match="cannot be compared"):
                ledger.spend("d", [age(distance)], str(number), "")
    assert ledger.remaining("d").spent_epsilon == allowed
    assert [p.distance for p in ledger.protections("d")] == [first]


@pytest.mark.parametrize(
    ("recorded", "asked", "fits"),
    [
        (age(ANY), age(10**9), False),
        (age(7, "day"), age(7 * 86400, "second"), False),  # another type of column
        (age(1, "euclidean", ("x", "y")), age(5, "manhattan", ("x", "y")), False),
        (age(500, "metre", ("x", "y")), age(500, "metre", ("y", "x")), True),
        (age(500, "metre", ("x", "y")), age(ANY, "", ("x", "y")), True),
        (
            age(110),
            age(110, "euclidean", ("age", "height")),
            False,
        ),  # as a pair it would hide a smaller distance in age
        (age(5, "euclidean", ("age", "height")), age(5), False),
        (age(5, "euclidean", ("age", "height")), age(ANY), True),
        (age(5, "", ("height",)), age(1), True),  # another column
    ],
)
def test_what_may_follow(ledger, recorded, asked, fits):
    ledger.spend("clinic", [recorded], "first", "")
    if fits:
        assert ledger.spend("clinic", [asked], "second", "").left_epsilon == 98
        ledger.spend("clinic", [recorded], "third", "")  # and the first may always come again
    else:
        with pytest.raises(LedgerError, match="cannot be compared"):
            ledger.spend("clinic", [asked], "second", "")
        assert ledger.remaining("clinic").releases == 1


def test_two_columns_in_one_release_are_compared_too(ledger):
    with pytest.raises(LedgerError, match="cannot be compared"):
        ledger.spend("clinic", [age(5), age(1)], "first", "")
    assert (ledger.protections("clinic"), ledger.entries("clinic")) == ([], [])


def test_what_costs_nothing_does_not_set_a_distance(ledger):
    ledger.spend("clinic", [age(ANY, epsilon=0)], "first", "")
    assert ledger.protections("clinic") == []
    with pytest.raises(ParameterError, match="the protected distance of age must be above 0"):
        ledger.spend("clinic", [age(0)], "second", "")


def test_distances_in_words():
    found = [
        Protected(("a",), d, u).words
        for d, u in (
            (None, ""),
            (Fraction(1), "day"),
            (Fraction(7200), "second"),
            (Fraction(1, 3), ""),
            (Fraction(5, 2), "metre"),
            (Fraction(3), "euclidean"),
        )
    ]
    assert found == [
        "any two values",
        "values at most 1 day apart",
        "values at most 2 hours apart",
        "values at most 1/3 apart",
        "values at most 2.5 metres apart",
        "values at most 3 (euclidean) apart",
    ]


# Neighbours ---------------------------------------------------------------------------------------------------------------

PATIENT = {"relation": "same-rows", "unit": "patient", "rows": 2}


@pytest.mark.parametrize(
    ("earlier", "record"),
    [
        ("two tables that differ in one row", ROW),
        ("two tables that differ in one row, there or not", {**ROW, "relation": "add-remove"}),
        ("two tables that differ in the rows of one patient (at most 2)", PATIENT),
        (
            "two tables that differ in the rows of one patient (at most 2), there or not",
            {**PATIENT, "relation": "add-remove"},
        ),
    ],
)
def test_a_ledger_with_the_sentence_of_an_earlier_version_takes_the_record(ledger, earlier, record):
    """Its budget goes on under the same neighbours, which are worded as today, and under no others."""
    ledger.set_budget("older", 3, between=earlier)
    ledger.spend("older", [age(5)], "first", "", terms=Terms(3, between=record))
    ledger.set_budget("older", 3, between=ledger.remaining("older").neighbours)  # what it says is what it takes
    assert (
        ledger.remaining("older").between == f"{phrases.neighbours(record)}: by at most 5 in age{phrases.NOT_RECORDED}"
    )
    for other in (ROW, {**ROW, "relation": "add-remove"}, PATIENT, {**PATIENT, "rows": 3}, "two tables"):
        if other != record:
            with pytest.raises(LedgerError, match="promise between"):
                ledger.spend("older", [age(5)], "second", "", terms=Terms(3, between=other))
    assert ledger.remaining("older").releases == 1


def test_neighbours_are_recorded_as_data(ledger):
    db = inside(ledger.path)
    (recorded,) = db.execute("SELECT neighbours FROM datasets").fetchone()
    db.close()
    assert json.loads(recorded) == ROW


@pytest.mark.parametrize(
    "text",
    [
        "two tables that differ in one unit",
        "two tables that differ in one row, there or not, perhaps",
        "two tables that differ in the rows of one patient (at most 02)",
        '{"relation": "any", "rows": 1, "unit": null}',
        '{"relation": "same-rows", "rows": "1", "unit": null}',
        "[]",
        "[" * 900,
    ],
)
def test_a_description_in_free_words_is_left_as_it_is(ledger, text):
    ledger.set_budget("own", 1, between=text)
    assert ledger.remaining("own").between == text


def test_what_a_budget_is_about_names_the_distance_of_every_column(ledger):
    """An epsilon of 1 between ages at most 5 apart says nothing of 18 and 77, so no budget is shown without it."""
    assert ledger.remaining("clinic").between == phrases.neighbours(ROW)
    ledger.spend("clinic", [age(5), age(500, "metre", ("x", "y"))], "first", "")
    ledger.spend("clinic", [age(ANY, "", ("sex",))], "second", "")
    assert ledger.remaining("clinic").between == (
        "two tables with the same number of rows that differ in the values of one row: by at most 5 in age, by at most 500 "
        "metres in x with y, by any two values in sex; how missing and undeclared values count is stated with each release"
    )


def test_the_file_refuses_to_change_or_forget_a_distance(ledger):
    ledger.spend("clinic", [age(5)], "first", "")
    db = inside(ledger.path)
    for command in ("DELETE FROM protections", "UPDATE protections SET distance = '1'"):
        with pytest.raises(sqlite3.IntegrityError, match="forgets nothing"):
            db.execute(command)
    db.close()


# One transaction ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["1", "1/100"])
def test_a_refused_release_does_not_lower_the_budget(ledger, epsilon):
    """A typing error in a budget must not lock the dataset."""
    ledger.spend("clinic", [age(5)], "first", "")
    before = ledger.remaining("clinic"), ledger.history("clinic"), ledger.protections("clinic")
    with pytest.raises(BudgetError, match="of the budget of"):
        ledger.spend("clinic", [age(5)], "second", "", terms=Terms(epsilon, between=ROW))
    assert (ledger.remaining("clinic"), ledger.history("clinic"), ledger.protections("clinic")) == before


def test_a_refused_release_does_not_raise_the_budget_nor_make_a_dataset(ledger):
    with pytest.raises(BudgetError):
        ledger.spend("clinic", [age(5, epsilon=500)], "r", "", terms=Terms(200, between=ROW, raise_budget=True))
    with pytest.raises(BudgetError):
        ledger.spend("new", [age(5, epsilon=2)], "r", "", terms=Terms(1))
    units = Terms(1, scope="unit")
    with pytest.raises(BudgetError, match="at least one unit"):
        ledger.spend("panel", [age(5, epsilon=2)], "r", "", units=[b"a"], terms=units)
    assert ledger.datasets() == ["clinic"]
    assert [e.event for e in ledger.history("clinic")] == ["set"]
    assert ledger.spend("panel", [age(5)], "r", "", units=[b"a"], terms=units).left_epsilon == 0


def test_budget_and_spend_are_recorded_together(ledger):
    ledger.spend("clinic", [age(5)], "first", "", terms=Terms(3, between=ROW))
    ledger.spend("clinic", [age(5)], "second", "", terms=Terms(4, between=ROW, raise_budget=True))
    assert [(e.event, e.epsilon) for e in ledger.history("clinic")] == [("set", 100), ("lowered", 3), ("raised", 4)]
    assert ledger.remaining("clinic").left_epsilon == 2
    with pytest.raises(LedgerError, match="promise between"):
        ledger.spend("clinic", [age(5)], "third", "", terms=Terms(4, between="other tables"))
    with pytest.raises(LedgerError, match="'dataset', not 'unit'"):
        ledger.spend("clinic", [age(5)], "third", "", units=[b"a"], terms=Terms(4, scope="unit", between=ROW))


# Names --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (" clinic", "begins or ends with a blank"),
        ("clinic ", "begins or ends with a blank"),
        ("the  clinic", "two in a row"),
        ("clinic\u200b", "printable"),
        ("clin\u0130c\u0307\u00ad", "printable"),
        ("cafe\u0301", "usual form"),
        ("\ufb01nance", "usual form"),
        ("\uff43linic", "usual form"),
        ("clinic\ufe0f", "invisible"),
        ("clin\u034fic", "invisible"),
        ("\u0441linic", r"Cyrillic, Latin"),
        ("clin\u03b9c", r"Greek, Latin"),
    ],
)
def test_names_that_could_be_taken_for_another_are_refused(ledger, name, words):
    with pytest.raises(ParameterError, match=words):
        ledger.set_budget(name, 1)
    with pytest.raises(ParameterError, match=words):
        ledger.spend(name, [age(5)], "r", "", terms=Terms(1))
    assert ledger.datasets() == ["clinic"]


@pytest.mark.parametrize(
    "name", ["clinic 2025/26", "café", "клиника", "病院 data", "データ 第2版", "Πάτρα", "a-b_c (d)", "عيادة", "हिन्दी"]
)
def test_names_of_all_languages_are_taken(ledger, name):
    check_name(name)
    assert ledger.set_budget(name, 1).dataset == name
