"""``noisewright doctor``: is this installation healthy, and what else could it do."""

from __future__ import annotations

import importlib
import os
import platform
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noisewright._utils.validation import printable
from noisewright.cli.app import Command, built, offered
from noisewright.render.text import AsJson, emit, facts, working

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

__all__ = ["COMPLETION_COMMAND", "DOCTOR_COMMAND", "Words", "completion", "doctor"]


PACKAGE = "noisewright"

ADDS = {
    "spark": "releases over more than one machine",
    "java": "a Java runtime for Spark, where there is none",
    "plots": "figures as files",
    "transport": "distances between populations, for any metric",
    "text": "attackers that learn topics and authors from words",
    "matching": "fast search among many codes",
    "images": "photographs, read and written",
    "attackers": "attackers that learn private values from released tables",
    "networks": "faces drawn by networks, and their training",
    "learned": "privatisers trained against adversaries",
    "detection": "faces found in photographs and videos",
    "postgresql": "a ledger in a PostgreSQL database, for a team",
    "studio": "the workbench in a browser",
}
"""Purpose of each extra; the names of the extras are read from the package itself."""

NOT_SHOWN = {"dev"}


@dataclass(frozen=True)
class Requirement:
    """One line of the package's requirements."""

    name: str
    wanted: str
    extra: str | None

    def installed(self) -> str | None:
        """The version that is installed."""
        try:
            return metadata.version(self.name)
        except metadata.PackageNotFoundError:
            return None

    def problem(self) -> str | None:
        """Why this requirement is not met, or None."""
        version = self.installed()
        if version is None:
            return "not installed"
        return None if _fits(version, self.wanted) else f"{version} is installed, {self.wanted} is needed"


def doctor(as_json: AsJson = False) -> None:
    """Look at this installation: versions, optional parts, and whether a small mechanism is drawn and proved.

    Ends with code 0 only when the base is healthy; optional parts may be missing.
    """
    with working("looking around"):
        wanted = _requirements()
        base = [_base(r) for r in wanted if r.extra is None]
        extras = _extras(wanted)
        checks = [_run(name, check) for name, check in CHECKS.items()]
    installed = bool(base)
    healthy = installed and all(part["problem"] is None for part in [*base, *checks])
    data = {
        "healthy": healthy,
        "noisewright": _version(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "dependencies": base,
        "extras": extras,
        "checks": checks,
    }
    emit(data, lambda: _page(data), as_json)
    if not healthy:
        raise typer.Exit(1)


def _version() -> str:
    from noisewright import __version__

    return __version__


def _requirements() -> list[Requirement]:
    try:
        lines = metadata.requires(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return []
    found = []
    for line in lines:
        parts = re.match(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*([^;]*)(?:;(.*))?$", line)
        if parts:
            extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", parts[3] or "")
            found.append(Requirement(parts[1], parts[2].strip(" ()"), extra[1] if extra else None))
    return found


def _base(requirement: Requirement) -> dict[str, Any]:
    problem = requirement.problem()
    if problem is None:
        try:
            importlib.import_module(requirement.name.replace("-", "_"))
        except Exception as failure:  # a broken wheel can fail in any way
            problem = f"installed, but it does not start: {type(failure).__name__}: {failure}"
    return {
        "name": requirement.name,
        "needed": requirement.wanted,
        "installed": requirement.installed(),
        "problem": problem,
    }


def _extras(wanted: list[Requirement]) -> list[dict[str, Any]]:
    groups: dict[str, list[Requirement]] = {}
    for requirement in wanted:
        if requirement.extra is not None and requirement.extra not in NOT_SHOWN:
            groups.setdefault(requirement.extra, []).append(requirement)
    return [
        {
            "name": name,
            "installed": all(r.problem() is None for r in group),
            "adds": ADDS.get(name, "more parts"),
            "packages": {r.name: r.installed() for r in group},
            "missing": [r.name for r in group if r.problem() is not None],
        }
        for name, group in groups.items()
        if all(r.name != PACKAGE for r in group)  # an extra that only bundles others adds nothing of its own
    ]


def _fits(version: str, wanted: str) -> bool:
    """Return whether a version meets bounds such as ``>=2.0,<3``; bounds of another form are taken as met."""
    return all(_meets(_digits(version), bound.strip()) for bound in wanted.split(",") if bound.strip())


def _meets(version: tuple[int, ...], bound: str) -> bool:
    parts = re.fullmatch(r"(>=|<=|==|>|<)\s*([\d.]+)", bound)
    if parts is None:
        return True
    limit = _digits(parts[2])
    length = max(len(version), len(limit))
    have, want = (v + (0,) * (length - len(v)) for v in (version, limit))
    return {">=": have >= want, "<=": have <= want, "==": have == want, ">": have > want, "<": have < want}[parts[1]]


def _digits(version: str) -> tuple[int, ...]:
    start = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in start[0].split(".")) if start else ()


# The self-check ------------------------------------------------------------------------------------------------------


def _run(name: str, check: Callable[[], str | None]) -> dict[str, Any]:
    try:
        problem = check()
    except Exception as failure:  # whatever goes wrong is the finding
        problem = f"{type(failure).__name__}: {failure}"
    return {"name": name, "problem": problem}


def _random_bits() -> str | None:
    from noisewright.sampling.random_bits import bits_from

    source = bits_from(None)
    if not source.for_release:
        return f"the default source is {source.label}"
    return None if source.words(4).tolist() != source.words(4).tolist() else "two draws were the same"


def _draw() -> str | None:
    import noisewright as nw

    if _random_bits() is not None:  # exact samplers draw until they are done, which may be never
        return "not tried, because the random bits are not sound"
    released = nw.geometric(epsilon=1, within=(0, 9)).release([5] * 1000)
    if min(released) < 0 or max(released) > 9:
        return "a draw left its range"
    return None if len(set(released.tolist())) > 1 else "a thousand draws were all the same"


def _prove() -> str | None:
    import noisewright as nw

    certificate = nw.exponential(range(4), epsilon="1/2").certificate()
    claim = nw.Certificate.from_json(certificate.to_json()).verify()
    record = getattr(claim, "record", {})
    wanted = {"epsilon": "1/2", "delta": "0", "metric": {"base": "line"}}
    return (
        None
        if all(record.get(name) == value for name, value in wanted.items())
        else f"it proved something else: {claim}"
    )


def _refuse() -> str | None:
    import noisewright as nw

    document = dict(nw.exponential(range(4), epsilon="1/2").certificate().document)
    document["claim"] = {**document["claim"], "epsilon": "1/4"}
    try:
        nw.Certificate(document).verify()
    except nw.NoisewrightError:
        return None
    return "a certificate with an edited claim was proved"


def _fork() -> str | None:
    """A forked child must not repeat its parent's noise."""
    from noisewright.sampling.random_bits import bits_from

    if not hasattr(os, "fork"):
        return None
    bits_from(None).words(4)  # a stream exists before the fork
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the child only draws and ends, so threads of the parent do not matter
        child = os.fork()
    if child == 0:
        try:
            os.write(writer, bits_from(None).words(4).tobytes())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        theirs = pipe.read()
    os.waitpid(child, 0)
    if len(theirs) != 32:
        return "the child drew nothing"
    return None if theirs != bits_from(None).words(4).tobytes() else "parent and child drew the same noise"


CHECKS: dict[str, Callable[[], str | None]] = {
    "random bits come from the operating system": _random_bits,
    "a small mechanism draws within its range": _draw,
    "a small mechanism is certified and proved": _prove,
    "an edited certificate is refused": _refuse,
    "a forked process draws other noise": _fork,
}


# The page ------------------------------------------------------------------------------------------------------------


def _page(data: dict[str, Any]) -> list[RenderableType]:
    from rich.text import Text

    base = _table("Base", "Installed", "Needed", "")
    for part in data["dependencies"]:
        base.add_row(part["name"], part["installed"] or "-", part["needed"], _mark(part["problem"]))
    extras = _table("Extra", "What it adds", "Installed")
    for part in data["extras"]:
        extras.add_row(
            part["name"], part["adds"], "yes" if part["installed"] else f"no; needs {', '.join(part['missing'])}"
        )
    checks = _table("Self-check", "")
    for part in data["checks"]:
        checks.add_row(part["name"], _mark(part["problem"]))
    parts: list[RenderableType] = [
        facts(
            [
                ("Noisewright", data["noisewright"]),
                ("Python", f"{data['python']} at {printable(data['executable'])}"),
                ("Platform", data["platform"]),
            ],
            indent=1,
        ),
        Text(),
        base
        if data["dependencies"]
        else Text(" Noisewright is not installed as a package here, so its needs are not known."),
        Text(),
        checks,
        Text(),
        extras,
        Text(),
    ]
    if not all(part["installed"] for part in data["extras"]):
        name = next(part["name"] for part in data["extras"] if not part["installed"])
        parts.append(Text(f' An extra is added by: pip install "noisewright[{name}]"'))
    verdict = (
        Text("The base is healthy.", "bold green") if data["healthy"] else Text("The base is NOT healthy.", "bold red")
    )
    return [*parts, Text(" ") + verdict]


def _table(*titles: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(*titles, box=SIMPLE_HEAD, show_edge=False)
    for column in table.columns:
        column.overflow = "fold"
    return table


def _mark(problem: str | None) -> str:
    return "ok" if problem is None else f"PROBLEM: {printable(problem)}"


DOCTOR_COMMAND = Command(doctor)


# Completion ---------------------------------------------------------------------------------------------------------------
#
# ``noisewright completion``: a script with which a shell completes commands, options and their values.
#
# The words are read off the commands themselves, so the script knows what this installation knows: all mechanisms, and
# the commands of other packages. It holds them all; to complete a word starts no Python. Print it again after an update.


SHELLS = ("bash", "zsh", "fish")
CHOICES = re.compile(r"[a-z0-9][a-z0-9.-]*(\|[a-z0-9][a-z0-9.-]*)+")
"""Notation of the words that an option takes, in its help."""
HELP = ("--help", "-h")


@dataclass(frozen=True)
class Words:
    """Words that can follow a command: its sub-commands and options, those that take a value, and values where they are
    known.
    """

    path: str
    """Words that call it, without the program's name."""
    commands: tuple[str, ...]
    options: tuple[str, ...]
    valued: tuple[str, ...]
    choices: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


def completion(
    shell: Annotated[str, typer.Argument(metavar="|".join(SHELLS), help="The shell that is to complete words.")],
) -> None:
    """Print a script with which a shell completes commands, options, their values, mechanisms and files.

    For bash: noisewright completion bash > ~/.local/share/bash-completion/completions/noisewright. For zsh: noisewright
    completion zsh > ~/.noisewright.zsh, and source that file in ~/.zshrc after compinit. For fish: noisewright completion fish
    > ~/.config/fish/completions/noisewright.fish. The next shell that is started completes.
    """
    from noisewright._utils.validation import one_of
    from noisewright.cli.app import ROOT

    one_of(shell, "the shell", SHELLS)
    typer.echo(_fish(list(_walk(ROOT))) if shell == "fish" else _bash(list(_walk(ROOT)), shell == "zsh"), nl=False)


def _walk(command: Command, path: tuple[str, ...] = ()) -> Iterator[Words]:
    """A command and all below it; one that cannot be loaded has no words."""
    from noisewright.exceptions import ParameterError

    options: list[Any] = [one for one in built("noisewright", command).params if one.param_type_name == "option"]
    shown = [one for one in options if not one.hidden]
    names = {id(one): (*one.opts, *one.secondary_opts) for one in shown}
    valued = [one for one in shown if not one.is_flag]
    choices = [
        (names[id(one)], tuple(one.metavar.split("|"))) for one in valued if CHOICES.fullmatch(one.metavar or "")
    ]
    table = () if command.table is None else tuple(command.table)
    yield Words(
        " ".join(path),
        table,
        (*(name for one in shown for name in names[id(one)]), *HELP),
        tuple(name for one in valued for name in names[id(one)]),
        tuple(choices),
    )
    for name in table:
        assert command.table is not None
        try:
            yield from _walk(offered(command.table, name), (*path, name))
        except ParameterError:
            continue


BASH = """\
_noisewright() {
  local nw_word nw_at nw_i nw_commands nw_options nw_valued
  nw_word="${COMP_WORDS[COMP_CWORD]}" nw_at='' nw_i=1 COMPREPLY=()
  while :; do
    case "$nw_at" in
@commands
    esac
    while [ "$nw_i" -lt "$COMP_CWORD" ]; do
      case " $nw_valued " in *" ${COMP_WORDS[nw_i]} "*) nw_i=$((nw_i + 2)); continue;; esac
      case " $nw_commands " in *" ${COMP_WORDS[nw_i]} "*) break;; esac
      nw_i=$((nw_i + 1))
    done
    [ "$nw_i" -lt "$COMP_CWORD" ] || break
    nw_at="${nw_at:+$nw_at }${COMP_WORDS[nw_i]}" nw_i=$((nw_i + 1))
  done
  case "$nw_at ${COMP_WORDS[COMP_CWORD-1]}" in
@values
  esac
  case " $nw_valued " in *" ${COMP_WORDS[COMP_CWORD-1]} "*) return;; esac
  case "$nw_word" in
    -*) COMPREPLY=($(compgen -W "$nw_options" -- "$nw_word"));;
    *) COMPREPLY=($(compgen -W "$nw_commands" -- "$nw_word"));;
  esac
}
complete -o default -F _noisewright noisewright
"""
"""It goes down to the command that was typed; the value of an option is none. Without a word of ours the shell names files."""
ZSH = "#compdef noisewright\nautoload -Uz bashcompinit && bashcompinit\n"
FISH = """\
function __noisewright_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    if contains -- "$at $word" @calls
      set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv[1]"
end
"""


def _bash(words: list[Words], zsh: bool) -> str:
    commands = [
        f"      {_quoted(one.path)}) nw_commands={_listed(one.commands)} nw_options={_listed(one.options)} "
        f"nw_valued={_listed(one.valued)};;"
        for one in words
    ]
    values = [
        f"    {'|'.join(_quoted(f'{one.path} {name}') for name in names)}) "
        f'COMPREPLY=($(compgen -W {_listed(taken)} -- "$nw_word")); return;;'
        for one in words
        for names, taken in one.choices
    ]
    found = BASH.replace("@commands", "\n".join(commands)).replace("@values", "\n".join(values))
    return (ZSH if zsh else "") + found


def _fish(words: list[Words]) -> str:
    calls = [f"{one.path} {name}" for one in words for name in one.commands]
    lines = []
    for one in words:
        at = _quoted(f'__noisewright_at "{one.path}"')
        here = f"complete -c noisewright -n {at}"
        if one.commands:
            lines.append(f"{here} -f -a {_listed(one.commands)}")
        values = {name: taken for names, taken in one.choices for name in names}
        for name in one.options:
            kind, takes = "-l" if name.startswith("--") else "-s", " -r" if name in one.valued else ""
            listed = f" -f -a {_listed(values[name])}" if name in values else ""
            lines.append(f"{here} {kind} {name.lstrip('-')}{takes}{listed}")
    return FISH.replace("@calls", " ".join(map(_quoted, calls))) + "\n".join(lines) + "\n"


def _listed(words: tuple[str, ...]) -> str:
    return _quoted(" ".join(words))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


COMPLETION_COMMAND = Command(completion)
