r"""``noisewright completion``: a script with which a shell completes commands, options and their values.

The words are read off the commands themselves, so the script knows what this installation knows: all mechanisms, and
the commands of other packages. It holds them all; to complete a word starts no Python. Print it again after an update.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from noisewright.cli.shared.commands import Command, built, offered

__all__ = ["COMMAND", "Words", "completion"]

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
    from noisewright.cli.app import ROOT
    from noisewright.core.choices import one_of

    one_of(shell, "the shell", SHELLS)
    typer.echo(_fish(list(_walk(ROOT))) if shell == "fish" else _bash(list(_walk(ROOT)), shell == "zsh"), nl=False)


def _walk(command: Command, path: tuple[str, ...] = ()) -> Iterator[Words]:
    """A command and all below it; one that cannot be loaded has no words."""
    from noisewright.core.errors import ParameterError

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


COMMAND = Command(completion)
