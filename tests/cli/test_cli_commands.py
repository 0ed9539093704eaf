"""Commands by address: those of the house, those of other packages, and those that are broken."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import noisewright
from noisewright.cli import Command
from noisewright.cli.app import ATTACKS, COMMANDS, LESSONS, PHOTOGRAPHS, ROLES, VIEWS
from noisewright.cli.app import EMBEDDINGS_WORK as WORK
from noisewright.cli.app import TEXT_WORK as TEXTS
from noisewright.cli.commands.design import EXTRAS
from noisewright.exceptions import ParameterError

FOLDER = Path(noisewright.__file__).parent / "cli" / "commands"
GROUPS = {
    "attack": ATTACKS,
    "design": EXTRAS,
    "embeddings": WORK,
    "images": PHOTOGRAPHS,
    "learn": LESSONS,
    "ledger": VIEWS,
    "match": ROLES,
    "text": TEXTS,
}

COUNTING = '''
import typer
from noisewright.cli import Command
from noisewright._utils.lazy import Addresses
from noisewright.exceptions import ParameterError

def count(file: str) -> None:
    """Count the lines of a file.

    All of them.
    """
    if file == "none":
        raise ParameterError("there are no lines; name a file.")
    typer.echo(f"{len(open(file).readlines())} lines")

def words(context: typer.Context) -> None:
    """Count words."""

application = typer.Typer()
application.command()(count)

COMMAND = Command(count)
APPLICATION = Command(application, line="Count with an application.")
GROUP = Command(words, table=Addresses("counting.words", "word", {"all": "counting:COMMAND"}))
NO_COMMAND = count
'''


@pytest.fixture
def package(tmp_path, shell):
    """Install a package with some entry points, and run the command beside it."""

    def installed(points: dict[str, str], group: str = "noisewright.commands"):
        about = tmp_path / "counting-1.2.dist-info"
        about.mkdir(exist_ok=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.2\n")
        lines = [f"[{group}]", *(f"{name} = {address}" for name, address in points.items())]
        (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
        (tmp_path / "counting.py").write_text(COUNTING)
        path = os.pathsep.join([str(tmp_path), str(FOLDER.parents[2])])
        return lambda *words: shell(*words, PYTHONPATH=path, COLUMNS="120")

    return installed


def test_every_module_is_a_word_that_users_type():
    """A module is called by a command, alone or before an underscore, and has commands that are listed, or options for them."""
    modules = {path.stem for path in FOLDER.iterdir() if path.stem not in ("__init__", "__pycache__")}
    assert {stem.partition("_")[0] for stem in modules} <= set(COMMANDS.own)
    home = f"{noisewright.__name__}.cli.commands."
    places = {
        (group, word): table.load(word).run.__module__
        for group, table in {"": COMMANDS, **GROUPS}.items()
        for word in table.own
    }
    assert {place.removeprefix(home) for place in places.values() if place.startswith(home)} | {
        "images_options"
    } == modules
    for (group, word), place in places.items():
        if group:  # embeddings are of texts, and have their commands
            assert place.removeprefix(home).partition("_")[0] == {"embeddings": "text"}.get(group, group)
        elif not place.startswith(
            home
        ):  # a group is where its sub-commands are listed, and studio in a package of its own
            assert place == ("noisewright.studio.server" if word == "studio" else "noisewright.cli.app")
            assert word in {"studio", *GROUPS}


@pytest.mark.parametrize("table", [COMMANDS, *GROUPS.values()])
def test_every_address_leads_to_a_command_with_a_line_of_help(table):
    for name in table.own:
        command = table.load(name)
        assert isinstance(command, Command)
        assert len(command.in_one_line()) > 20
        assert "\n" not in command.in_one_line()


def test_help_lists_all_commands_in_their_order(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    page = call("--help").out
    places = [page.index(f"\n│ {name} ") for name in COMMANDS.own]
    assert places == sorted(places)
    for name in COMMANDS.own:
        assert COMMANDS.load(name).in_one_line() in page
    assert call().out == page


def test_a_command_loads_no_other_command(shell):
    code = "import sys; from noisewright.cli import run; run(['ledger', 'show', '--help']); "
    code += "print([m for m in sys.modules if m.startswith('noisewright.cli.commands.')])"
    loaded = shell(command=(sys.executable, "-c", code)).out.splitlines()[-1]
    assert loaded == "['noisewright.cli.commands.ledger']"


def test_a_third_party_s_command_is_listed_and_runs(package, tmp_path):
    run = package({"count": "counting:COMMAND", "tally": "counting:APPLICATION", "words": "counting:GROUP"})
    page = run("--help")
    assert page.code == 0
    for line in ("count Count the lines of a file.", "tally Count with an application.", "words Count words."):
        assert line in page.words
    assert "All of them." not in page.words
    assert page.words.index("attack Measure") < page.words.index("count Count the lines")
    (tmp_path / "lines").write_text("a\nb\n")
    for words in (["count"], ["tally"], ["words", "all"]):
        assert run(*words, tmp_path / "lines").out == "2 lines\n"
    assert "All of them." in run("count", "--help").words
    refused = run("count", "none")
    assert (refused.code, refused.err) == (2, "noisewright: there are no lines; name a file.\n")
    assert run("cuont").err == "noisewright: no such command 'cuont'. Did you mean 'count'?\n"
    assert run("count").code == 2


def test_a_third_party_s_attack_is_an_attack(package, tmp_path):
    run = package({"counting": "counting:COMMAND"}, "noisewright.commands.attack")
    assert [attack["name"] for attack in run("attack", "--json").json["attacks"]] == [
        "inference",
        "linkage",
        "suppression",
        "author",
        "faces",
        "private-attribute",
        "counting",
    ]
    (tmp_path / "lines").write_text("a\n")
    assert run("attack", "counting", tmp_path / "lines").out == "1 lines\n"


@pytest.mark.parametrize("address", ["counting:NOTHING", "not_there:COMMAND", "counting:NO_COMMAND"])
def test_a_broken_command_is_listed_as_broken_and_breaks_nothing_else(package, address):
    run = package({"count": address})
    page = run("--help")
    assert page.code == 0
    assert "count Broken: the command 'count'" in page.words
    assert "repair or remove" in page.words
    assert "plan Show what a release would promise" in page.words
    assert run("plan", "--help").code == 0
    called = run("count", "x")
    assert called.code == 2
    assert called.err.startswith("noisewright: the command 'count'")


def test_a_package_that_takes_a_name_of_the_house_is_told_of_and_breaks_nothing(package):
    run = package({"plan": "counting:COMMAND"})
    page = run("--help")
    assert page.code == 0
    assert "plan Show what a release would promise" in page.words
    assert "two packages offer a command called 'plan': counting and noisewright; remove one of them." in page.words
    assert "Count the lines" not in run("plan", "--help").words


def test_the_table_refuses_a_second_command_of_a_name():
    with pytest.raises(ParameterError, match="registered already"):
        COMMANDS.add("plan", Command(print))
