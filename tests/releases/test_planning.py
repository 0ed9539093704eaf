"""``nw.plan``: what a release would cost, say and be refused for, before anything is drawn."""

from __future__ import annotations

import pickle
from fractions import Fraction

import pyarrow as pa
import pytest

import noisewright as nw
from noisewright.exceptions import DataError, NoisewrightError, ParameterError, PolicyError

POLICY = {
    "dataset": "clinic",
    "budget": {"epsilon": 3},
    "columns": [
        {"name": "age", "mechanism": "geometric", "within": [0, 110], "protect": 5, "epsilon": 1},
        {"name": "ward", "keep": True},
    ],
    "queries": [{"name": "visits", "aggregate": "count", "where": "age >= 18", "epsilon": "0.5"}],
}
TABLE = pa.table({"age": [44, 31, 70], "ward": ["n", "s", "n"], "note": ["a", "b", "c"]})


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "clinic.ledger"


def test_a_plan_tells_parts_prices_and_what_is_left_out(ledger):
    found = nw.plan(POLICY, TABLE, ledger=ledger)
    assert [nw.releases.plan.title(part) for part in found.parts] == ["age", "visits"]
    assert [part.price for part in found.parts] == [1, Fraction(1, 2)]
    assert (found.epsilon, found.delta) == (Fraction(3, 2), 0)
    assert found.parts[0].error_words == "expected error at most 4.97"  # 2a / (1 - a^2) for a = e^-0.2 is 4.967
    assert (found.kept, found.dropped, list(found.types)) == (("ward",), (), ["age", "ward"])  # not a word of the note
    assert "by at most 5 in age" in found.between


def test_nothing_is_written_and_two_plans_are_alike(ledger):
    first, second = (nw.plan(POLICY, TABLE, ledger=ledger) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert list(ledger.parent.iterdir()) == []


def test_all_of_the_budget_is_left_where_no_ledger_knows_the_dataset(ledger):
    left = nw.plan(POLICY, TABLE, ledger=ledger).budget
    assert (left.epsilon, left.delta, left.releases, left.recorded, left.fits) == (3, 0, 0, False, True)


def test_a_ledger_says_what_is_left_and_refuses_what_does_not_fit(ledger):
    nw.release(POLICY, TABLE, ledger=ledger)
    once = nw.plan(POLICY, TABLE, ledger=ledger).budget
    assert (once.epsilon, once.releases, once.recorded, once.fits) == (Fraction(3, 2), 1, True, True)
    nw.release(POLICY, TABLE, ledger=nw.Ledger(ledger), again=True)
    twice = nw.plan(POLICY, TABLE, ledger=nw.Ledger(ledger)).budget
    assert (twice.epsilon, twice.releases, twice.fits) == (0, 2, False)
    with pytest.raises(NoisewrightError) as refused:
        nw.release(POLICY, TABLE, ledger=ledger, again=True)
    assert twice.refusal == str(refused.value)  # the very sentence


def test_a_target_error_gives_the_smallest_epsilon_that_reaches_it(ledger):
    found = nw.plan(POLICY, TABLE, ledger=ledger, target_error={"age": 10})
    age, visits = found.parts
    assert 0 < age.price < 1
    assert age.error <= 10 < nw.plan(_with_epsilon(age.price * Fraction(99, 100)), TABLE, ledger=ledger).parts[0].error
    assert found.policy.columns[0].epsilon == age.price
    assert visits.price == Fraction(1, 2)  # nothing else changes


def _with_epsilon(epsilon):
    age, ward = POLICY["columns"]
    return {**POLICY, "columns": [{**age, "epsilon": epsilon}, ward]}


def test_warnings_look_at_the_data_too(ledger):
    mixed = pa.table({"age": [(37 * k) % 61 for k in range(61)], "ward": ["n", "s"] * 30 + ["n"]})
    for table, wanted in ((mixed, False), (mixed.sort_by("age"), True)):
        warnings = nw.plan({**POLICY, "order": "kept"}, table, ledger=ledger).warnings
        assert any(text.startswith("ward: kept as it is") for text in warnings)
        assert any(text.startswith("age: the table is sorted by it") for text in warnings) == wanted


def test_a_plan_can_be_sent_to_another_process(ledger):
    found = nw.plan(POLICY, TABLE, ledger=ledger)
    again = pickle.loads(pickle.dumps(found))
    assert again.to_json() == found.to_json()
    assert again.budget == found.budget


@pytest.mark.parametrize("form", ["toml", "object"])
def test_a_policy_is_a_file_or_an_object_and_data_can_be_a_file(form, ledger, tmp_path):
    data, file = tmp_path / "visits.csv", tmp_path / "policy.toml"
    data.write_text("age,ward\n44,n\n31,s\n")
    file.write_text(
        'dataset = "clinic"\nbudget = { epsilon = 3 }\n[[columns]]\nname = "age"\nmechanism = "geometric"\n'
        'within = [0, 110]\nprotect = 5\nepsilon = 1\n[[columns]]\nname = "ward"\nkeep = true\n'
    )
    found = nw.plan(file if form == "toml" else nw.Policy.load(file), data, ledger=ledger)
    assert (found.epsilon, found.kept, found.dropped) == (1, ("ward",), ())


@pytest.mark.parametrize(
    ("policy", "table", "target", "kind", "words"),
    [
        ({**POLICY, "columns": []}, TABLE.drop_columns("age"), {"height": 1}, ParameterError, "height"),
        (POLICY, TABLE, {"age": -1}, ParameterError, "age"),
        (POLICY, TABLE.drop_columns("age"), {}, DataError, "age"),
        (POLICY, TABLE.set_column(0, "age", pa.array(["x", "y", "z"])), {}, NoisewrightError, "age"),
        ({**POLICY, "budget": {"epsilon": -3}}, TABLE, {}, PolicyError, "budget.epsilon"),
        (POLICY, TABLE.slice(0, 0).select([]), {}, DataError, "columns"),
    ],
)
def test_what_a_release_would_refuse_is_refused_without_a_value(policy, table, target, kind, words, ledger):
    with pytest.raises(kind, match=words) as refused:
        nw.plan(policy, table, ledger=ledger, target_error=target)
    assert not {"44", "'x'", "31,"} & set(str(refused.value).split())
    assert list(ledger.parent.iterdir()) == []


def test_the_promise_of_a_release_is_between_values_at_most_protect_apart():
    """Ages 50 apart are told apart far better than an epsilon of 1 allows, so no sentence may speak of any two secrets."""
    done = nw.release(POLICY, TABLE, seed=1)
    pairs = "two tables with the same number of rows that differ in the values of one row: by at most 5 in age, "
    pairs += "by nothing in ward"
    assert f"epsilon = 1.5 between {pairs}; a simulation" in repr(done)
    for words in (done.in_words(), done.guarantee.in_words(), done.plan.guarantee.in_words()):
        assert f"the odds between {pairs}, change by a factor of at most 4.49." in words  # e^1.5 = 4.4817
        assert "in one of two such tables can become at most 81.8 %." in words
        assert "secrets" not in words
    assert done.guarantee.bound(2) == float("inf")
    age = done.plan.columns[0].mechanism
    assert age.map(50) > 5 * done.guarantee.bound(1)
    nothing = nw.release(
        {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [{"name": "ward", "keep": True}]}, TABLE, seed=1
    )
    assert nothing.in_words() == "Nothing is protected: every released column is kept as it is."


def test_a_floating_policy_says_so_beside_its_odds():
    policy = {
        "dataset": "clinic",
        "floating": True,
        "budget": {"epsilon": 3},
        "columns": [{"name": ["x", "y", "z"], "mechanism": "spherical-laplace", "protect": 5, "epsilon": 1}],
        "queries": [{"name": "visits", "aggregate": "count", "epsilon": 1}],
    }
    table = pa.table({name: [1.0, 2.0, 3.0] for name in "xyz"})
    said = "nothing is proved about the floats that are drawn for x, y and z."
    plan, done = nw.plan(policy, table), nw.release(policy, table, seed=1)
    assert plan.floating == ("x, y and z",)
    assert plan.in_words().endswith(said)
    assert plan.to_json()["reading"].endswith(said)
    assert done.in_words().endswith(said)
    assert said in done.page
    assert "; not proved, x, y and z in floats; a simulation" in repr(done)
    exact = nw.release(POLICY, TABLE, seed=1)
    assert exact.plan.floating == ()
    assert "proved" not in exact.in_words() + repr(exact)


def test_a_plan_makes_every_check_of_a_release(ledger):
    """What a release would refuse for its values, the plan says in the very words, and that it does not fit."""
    cases = {
        "missing values": TABLE.set_column(0, "age", pa.array([44, None, 70])),
        "outside": TABLE.set_column(0, "age", pa.array([44, 31, 170])),
    }
    for words, table in cases.items():
        found = nw.plan(POLICY, table, ledger=ledger)
        with pytest.raises(DataError, match=words) as refused:
            nw.release(POLICY, table, ledger=ledger)
        assert (found.refusal, found.fits, found.budget.fits) == (str(refused.value), False, True)
        assert found.to_json()["fits"] is False
    assert nw.plan(POLICY, TABLE, ledger=ledger).fits
    assert list(ledger.parent.iterdir()) == []


def test_units_are_counted_by_a_plan(ledger):
    unit = {"unit": {"column": "ward", "rows": 1}}
    found = nw.plan({**POLICY, **unit, "columns": POLICY["columns"][:1]}, TABLE, ledger=ledger)
    assert "more than" in found.refusal


def test_a_table_without_rows_is_refused_where_their_number_is_public(ledger):
    with pytest.raises(DataError, match="no rows"):
        nw.release(POLICY, TABLE.slice(0, 0), ledger=ledger)
    assert "no rows" in nw.plan(POLICY, TABLE.slice(0, 0), ledger=ledger).refusal
    hidden = {**POLICY, "neighbours": "add-remove", "columns": []}
    assert nw.plan(hidden, TABLE.slice(0, 0), ledger=ledger).fits  # whether anybody is there is a secret


def test_groups_that_no_row_belongs_to_are_said_and_not_published(ledger, tmp_path):
    asked = {"name": "by ward", "aggregate": "count", "by": {"ward": ["n", "S", "W"]}, "epsilon": 1}
    policy = {**POLICY, "queries": [asked]}
    (caution,) = [text for text in nw.plan(policy, TABLE, ledger=ledger).warnings if text.startswith("by ward")]
    assert "2 of its 3 groups have no rows" in caution
    said: list[str] = []
    done = nw.release(policy, TABLE, ledger=ledger, output=tmp_path / "out", warn=said.append)
    assert caution in said == list(done.warnings)
    assert caution not in done.plan.warnings
    assert "no rows in this table" not in "".join(
        path.read_text(errors="ignore") for path in (tmp_path / "out").rglob("*") if path.is_file()
    )


@pytest.mark.parametrize(
    ("column", "drowned"),
    [
        ({"mechanism": "geometric", "within": [0, 120], "epsilon": "0.5"}, True),  # between any two ages
        ({"mechanism": "geometric", "within": [0, 120], "protect": 5, "epsilon": "0.5"}, False),
        ({"mechanism": "randomised-response", "categories": list(range(120)), "epsilon": 1}, True),
        ({"mechanism": "randomised-response", "categories": [31, 44, 70], "epsilon": 1}, False),
    ],
)
def test_noise_no_better_than_a_guess_is_said(ledger, column, drowned):
    policy = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [{"name": "age", **column}]}
    assert any("no better than a guess" in text for text in nw.plan(policy, TABLE, ledger=ledger).warnings) == drowned
    assert any("no better than a guess" in text for text in nw.release(policy, TABLE, seed=1).warnings) == drowned


@pytest.mark.parametrize(("written", "meant"), [("agee", "age"), (" Age", "age"), ("WARDS", "ward")])
def test_a_misspelt_column_is_asked_about(ledger, written, meant, tmp_path):
    (tmp_path / "visits.csv").write_text("age,ward,note\n44,n,a\n")
    policy = {**POLICY, "columns": [{"name": written, "keep": True}], "queries": []}
    with pytest.raises(DataError, match=rf"there is no column '{written}' in the data; did you mean '{meant}'\?"):
        nw.plan(policy, tmp_path / "visits.csv", ledger=ledger)


@pytest.mark.parametrize(
    "more",
    [
        {"columns": [{"name": "age", "keep": True}]},
        {"unit": {"column": "age", "rows": 1}},
        {"types": {"age": "integer"}},
        {"queries": [{"name": "n", "aggregate": "count", "by": {"age": [1, 2]}, "epsilon": 1}]},
    ],
)
def test_a_stray_blank_in_the_header_is_shown(ledger, more, tmp_path):
    (tmp_path / "visits.csv").write_text("ward, age \nn,44\n")
    policy = {"dataset": "clinic", "budget": {"epsilon": 3}, "columns": [{"name": "ward", "keep": True}], **more}
    with pytest.raises((DataError, PolicyError), match=r"there is no column 'age' in the data; did you mean ' age '\?"):
        nw.plan(policy, tmp_path / "visits.csv", ledger=ledger)


def test_keys_of_json_lines_are_nobodys_business(ledger, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"age": 44}\n{"age": 31, "agee_of_ann": 1}\n')
    policy = {**POLICY, "columns": [{"name": "agee_of_an", "keep": True}], "queries": []}
    with pytest.raises(DataError) as refused:
        nw.plan(policy, tmp_path / "rows.jsonl", ledger=ledger)
    assert "agee_of_ann" not in str(refused.value)


def test_common_guesses_of_names_are_answered():
    with pytest.raises(AttributeError, match=r"did you mean randomised_response\?"):
        nw.randomized_response  # noqa: B018
    with pytest.raises(ParameterError, match=r"called 'Laplce'; did you mean laplace\?"):
        nw.mechanisms.build("Laplce", epsilon=1)


def test_a_filter_that_no_row_passes_is_spoken_of(tmp_path):
    asked = {"name": "n", "aggregate": "mean", "column": "age", "within": [0, 110], "epsilon": 1}
    for where, none in (("age > 200", True), ("age > 0", False)):
        policy = {"dataset": "clinic", "budget": {"epsilon": 3}, "queries": [{**asked, "where": where}]}
        said = [
            nw.plan(policy, TABLE, ledger=tmp_path / "ledger").warnings,
            nw.release(policy, TABLE, ledger=tmp_path / where).warnings,
        ]
        assert [any("no row of this table passes its filter" in one for one in found) for found in said] == [none] * 2
