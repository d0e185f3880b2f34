"""What a shell needs to complete commands, options, boards, metrics and generators.

bash:  echo 'eval "$(billboards completion bash)"' >> ~/.bashrc
zsh:   echo 'eval "$(billboards completion zsh)"' >> ~/.zshrc        after compinit
fish:  billboards completion fish > ~/.config/fish/completions/billboards.fish
"""

from __future__ import annotations

from argparse import REMAINDER, Action, ArgumentParser, Namespace
from argparse import _SubParsersAction as SubParsers
from collections.abc import Iterable, Iterator
from pathlib import Path

#: A shell asks this program for words that fit; where there are none, it offers files.
SCRIPTS = {
    "bash": """_billboards() {
    local IFS=$'\\n'
    COMPREPLY=($(billboards completion --words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -o filenames -F _billboards billboards
""",
    "zsh": """_billboards() {
    local -a answers
    answers=("${(@f)$(billboards completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${answers[*]}" ]]; then compadd -Q -- "${answers[@]}"; else _files; fi
}
compdef _billboards billboards
""",
    "fish": """function __billboards_words
    set -l words (commandline -opc) (commandline -ct)
    billboards completion --words $words[2..-1] 2>/dev/null
end
complete -c billboards -n __fish_use_subcommand -f -a '(__billboards_words)'
complete -c billboards -n 'not __fish_use_subcommand' -a '(__billboards_words)'
""",
}

#: What an argument takes, by what it is called.
BOARDS = {"board", "boards"}
METRICS = {"metric", "metrics", "by", "baseline"}
GENERATORS = {"generator", "generators", "human", "only"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=tuple(SCRIPTS), metavar="SHELL", help="bash, zsh or fish")
    parser.add_argument(
        "--words", nargs=REMAINDER, metavar="WORD", help="print what may stand in the place of the last word, and end"
    )


def run(arguments: Namespace) -> int:
    from billboards.errors import InvalidInput

    if arguments.words is not None:
        for word in candidates(arguments.words):
            print(word)
        return 0
    if arguments.shell is None:
        raise InvalidInput("name your shell: `billboards completion bash`, zsh or fish; --help says where it goes")
    print(SCRIPTS[arguments.shell], end="")
    return 0


def candidates(words: list[str]) -> list[str]:
    """What may stand in the place of the last of some words, which may be empty; upper and lower case are alike."""
    from billboards.errors import BillboardsError

    *before, last = words or [""]
    try:
        offered = list(_offered(before, last))
    except (BillboardsError, ImportError, OSError):
        # Whoever presses a key wants no message.
        return []
    folded = last.casefold()
    return list(dict.fromkeys(word for word in offered if word.casefold().startswith(folded)))


def _offered(before: list[str], last: str) -> Iterator[str]:
    from billboards.cli.main import ALIASES, command_parser, every_command

    if not before:
        yield from (*every_command(), *ALIASES) if last else every_command()
        return
    command = ALIASES.get(before[0], before[0])
    if command not in every_command():
        return
    parser, place, option = _walk(command_parser(command), before[1:])
    if option is not None:
        yield from _values(option, before)
        if not _takes_several(option):
            return
    elif last.startswith("-"):
        yield from (text for action in parser._actions for text in action.option_strings)
        return
    positional = [action for action in parser._actions if not action.option_strings]
    if positional and place >= len(positional) and _takes_several(positional[-1]):
        place = len(positional) - 1
    if option is None and place < len(positional):
        yield from _values(positional[place], before)


def _walk(parser: ArgumentParser, words: list[str]) -> tuple[ArgumentParser, int, Action | None]:
    """The parser that the last word is for, how many arguments it has had, and the option that waits for a value."""
    from billboards.cli._arguments import LateParser

    place, waiting = 0, None
    for word in words:
        if word.startswith("-"):
            waiting = next((action for action in parser._actions if word in action.option_strings), None)
            waiting = None if waiting is None or waiting.nargs == 0 else waiting
            continue
        if waiting is not None:
            waiting = waiting if _takes_several(waiting) else None
            continue
        below = next((action for action in parser._actions if isinstance(action, SubParsers)), None)
        if below is not None and word in below.choices:
            parser, place = below.choices[word], 0
            if isinstance(parser, LateParser):
                parser.complete()
            continue
        place += 1
    return parser, place, waiting


def _takes_several(action: Action) -> bool:
    return action.nargs in ("*", "+")


def _values(action: Action, before: list[str]) -> Iterable[str]:
    """What an argument may be: its choices, or names that lie on the disk."""
    if action.choices is not None:
        return [str(choice) for choice in action.choices]
    names = {action.dest, str(action.metavar or "").casefold()}
    if names & BOARDS:
        return boards(Path())
    board = next((Path(word) for word in before if (Path(word) / "board.toml").is_file()), None)
    if names & GENERATORS:
        return generators(board)
    if names & METRICS:
        return metrics(board)
    if board is not None and names & {"a", "b", "first", "second", "names", "name"}:
        return [*metrics(board), *generators(board)]
    return metrics(None) if names & {"name"} and before[:1] == ["metrics"] else []


def boards(folder: Path) -> list[str]:
    """Board folders here and one level below."""
    settings = [*folder.glob("*/board.toml"), *folder.glob("*/*/board.toml")]
    return sorted(path.parent.as_posix() for path in settings)


def generators(board: Path | None) -> list[str]:
    """The generators of a board, by the names of their files: reading them all would take too long for a key."""
    return [] if board is None else sorted(path.stem for path in (board / "generators").glob("*.jsonl"))


def metrics(board: Path | None) -> list[str]:
    """The metrics that are installed, and the columns that a board was imported with."""
    from billboards.metrics.discovery import metric_names

    imported = [] if board is None else [path.stem for path in (board / "scores").glob("*")]
    return sorted({*metric_names(), *imported})
