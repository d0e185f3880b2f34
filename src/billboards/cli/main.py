"""`billboards`: finds the command, runs it, and turns every error into one line and an exit code.

Commands are modules that are imported only when they are asked for, so that `billboards --help` starts as fast as the
interpreter allows. Exit codes: 0 done, 1 something failed, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import sys
from argparse import Action, ArgumentError, ArgumentParser, Namespace, RawDescriptionHelpFormatter

TYPE_CHECKING = False  # importing typing for this would cost a tenth of the start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

#: Command, module below billboards.cli, and what it does. Help and documentation are made from this table.
COMMANDS = {
    "demo": ("demo", "build, score, rank and show the demo board"),
    "new": ("new", "write a commented skeleton of a board folder"),
    "get": ("get", "fetch a public board by name: download, check and import it"),
    "import": ("importing", "make a board folder from a public data set, a table or text files"),
    "export": ("exporting", "write a board for other tools: mt-metrics-eval, the Hugging Face hub"),
    "check": ("check", "explain every mistake in a board folder; compare imported scores with own ones"),
    "verify": ("verify", "compute a board's scores and ranking again, and check what its site signed"),
    "card": ("card", "print a board's data card: what is stated of its data, and what can be counted"),
    "score": ("score", "compute the scores that are missing, or score text files"),
    "scores": ("scores", "add scores that were computed elsewhere, for a new generator or as a new column"),
    "ensemble": ("ensemble", "study the ensemble, list past ones, apply one to new outputs"),
    "ratings": ("ratings", "study single ratings: agreement, designs, severe annotators, doubtful ratings"),
    "judgments": ("judgments", "bring judgments from other tools' files to a board, or write a board's for them"),
    "annotators": ("annotators", "find noisy annotators by their test questions, and see how well they are found"),
    "published": ("published", "published tables beside ours, cell by cell, with the reasons of differences"),
    "suite": ("suite", "judge metrics on several boards at once: tables, one ranking, a metric of your own"),
    "metric": ("metric", "report on one metric over several boards: where it works, where it fails, how fast"),
    "audit": ("audit", "find out what a metric rewards: make outputs for it, and ask everyone else about them"),
    "report": ("report", "write one self-contained HTML page about a board"),
    "serve": ("serve", "open the site: boards on the web, submissions, and the workers that score them"),
    "publish": ("publish", "write boards as a website of plain files, which needs no server"),
    "worker": ("worker", "score what a site lacks, here or on a Dask cluster"),
    "backup": ("backup", "write a whole site to one file while it runs"),
    "restore": ("restore", "make a site from a backup"),
    "forget": ("forget", "delete a person's data from a site, on request"),
    "tidy": ("tidy", "delete what a site keeps longer than its owner says"),
    "campaign": ("campaign", "ask people about a board's generators: plan, quote, open, invite, follow, close"),
    "crowd": ("crowd", "put a campaign on a crowd platform: quote, draft, publish, review, pay"),
    "submit": ("submit", "send a generator or a metric to a site, and wait for the result"),
    "history": ("history", "list past rankings of a board, or show one"),
    "bertscore": ("bertscore", "fetch a model, choose its layer, make a baseline, or see a matching for BERTScore"),
    "pack": ("pack", "build a metric that needs packages of its own, try it on a board, or list what was built"),
    "judges": ("judges", "say what LLM judges were asked and answered, and what that took"),
    "metrics": ("metrics", "list the metrics that are installed, or one metric's card"),
    "doctor": ("doctor", "say what works on this machine, and what to do about the rest"),
    "schema": ("schema", "print the JSON schema of board.toml, with which editors complete and check it"),
    "mcp": ("mcp_server", "let an assistant ask boards (Model Context Protocol)"),
    "completion": ("completion", "print what a shell needs to complete commands, boards, metrics and generators"),
}

#: Commands by what they are for, as `--help` lists them. Analyses join the group that they declare, and what stands in
#: none is listed last.
GROUPS = {
    "start here": ("demo", "get", "new", "import", "doctor", "completion"),
    "score and rank": ("score", "rank", "report", "compare", "history", "metrics", "metric", "suite", "ensemble"),
    "boards": ("check", "card", "verify", "scores", "judgments", "export", "published", "schema"),
    "how good are the metrics?": ("audit",),
    "people": ("annotators", "campaign", "crowd", "ratings"),
    "learned metrics and judges": ("bertscore", "judges", "pack"),
    "for other programs": ("mcp",),
    "a site": ("serve", "publish", "worker", "submit", "backup", "restore", "tidy", "forget"),
}

#: What hands type out of habit, and what it means here.
ALIASES = {
    "correlate": "rank",
    "diff": "compare",
    "download": "get",
    "eval": "score",
    "evaluate": "score",
    "fetch": "get",
    "init": "new",
    "leaderboard": "rank",
    "lint": "check",
    "start": "serve",
    "validate": "check",
}

#: Switches that every command takes, and the variables that mean the same.
SWITCHES = {"--quiet": "BILLBOARDS_QUIET", "--no-color": "NO_COLOR"}

#: Pipes that a shell has opened for us, and the one device that ends.
OPENED = ("/dev/fd/", "/dev/std", "/proc/self/fd/", "/dev/null")


def main(argv: list[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    given = sys.argv[1:] if argv is None else argv
    if set(given) & SWITCHES.keys():
        return _switched(given)
    arguments = _without_habits(given)
    if arguments and arguments[0] in COMMANDS:
        return _run(arguments[0], arguments[1:])
    if arguments and not arguments[0].startswith("-"):
        from billboards.analyses import names_elsewhere, own_analyses

        if arguments[0] in own_analyses() or arguments[0] in names_elsewhere():
            return _ask(arguments[0], arguments[1:])
    return _without_command(arguments)


def _switched(arguments: list[str]) -> int:
    """Run a command with what was switched for all of it."""
    import os

    wanted = {variable: "1" for switch, variable in SWITCHES.items() if switch in arguments}
    before = {variable: os.environ.get(variable) for variable in wanted}
    os.environ.update(wanted)
    try:
        return main([argument for argument in arguments if argument not in SWITCHES])
    finally:
        for variable, value in before.items():
            os.environ.pop(variable)
            if value is not None:
                os.environ[variable] = value


def _without_habits(arguments: list[str]) -> list[str]:
    """Arguments with the real name of a command: `help X` is `X --help`, and aliases are what they stand for."""
    if not arguments:
        return arguments
    first, *others = arguments
    if first == "help":
        return _without_habits([*others[:1], "--help"])
    if first == "version":
        return ["--version"]
    return [ALIASES.get(first, first), *others]


def every_command() -> dict[str, str]:
    """What each command does, by name: those of the table, and analyses."""
    from billboards.analyses import summaries

    own = {name: text for name, (_, text) in COMMANDS.items()}
    asked = {name: text.rstrip(".") for name, text in summaries().items() if name not in own and " " not in name}
    return own | {name: text[:1].lower() + text[1:] for name, text in asked.items()}


def _without_command(arguments: list[str]) -> int:
    parser = ArgumentParser(
        "billboards",
        usage="billboards COMMAND …",
        description="Bidimensional leaderboards: rank text generators and the metrics that judge them, hand in hand.",
        epilog=_listed() + "\n\n`billboards COMMAND --help` says more about one of them.\n"
        "Every command takes --quiet (no progress bar) and --no-color.",
        formatter_class=FittingHelp,
    )
    parser.add_argument("--version", action="store_true", help="print the version and end")
    parser.add_argument("command", nargs="?", metavar="COMMAND", help="one of those below")
    parsed, _ = parser.parse_known_args(arguments)
    if parsed.version:
        from importlib.metadata import version

        print(f"billboards {version('billboards')}")
        return 0
    if parsed.command is not None:
        from difflib import get_close_matches

        near = get_close_matches(parsed.command.lower(), (*every_command(), *ALIASES), n=1)
        hint = f"did you mean {ALIASES.get(near[0], near[0])}?" if near else "`billboards --help` lists the commands"
        print(f"billboards: no command {parsed.command!r}; {hint}", file=sys.stderr)
        return 2
    parser.print_help()
    return 0


def _listed() -> str:
    """Every command below what it is for, no line wider than the terminal."""
    from shutil import get_terminal_size

    texts = every_command()
    width = max(get_terminal_size().columns, 60) - 18
    parts = []
    for title, names in command_groups().items():
        lines = [f"  {name:14}{_cut(texts[name], width)}" for name in names if name in texts]
        if lines:
            parts.append("\n".join([title if title.endswith("?") else f"{title}:", *lines]))
    return "\n\n".join(parts)


def command_groups() -> dict[str, tuple[str, ...]]:
    """Every command by what it is for; a group in the order of the alphabet stays so when analyses join it."""
    from billboards.analyses import groups

    joined = dict(GROUPS)
    for name, title in groups().items():
        if name not in joined.get(title, ()):
            names = joined.get(title, ())
            is_sorted = list(names) == sorted(names)
            joined[title] = tuple(sorted((*names, name))) if is_sorted else (*names, name)
    grouped = {name for names in joined.values() for name in names}
    return {**joined, "more": tuple(name for name in every_command() if name not in grouped)}


def _cut(text: str, width: int) -> str:
    """A text in one line, cut between two words where it is too long."""
    return text if len(text) <= width else text[: width - 1].rpartition(" ")[0].rstrip(",:;") + " …"


class FittingHelp(RawDescriptionHelpFormatter):
    """Help whose sentences are as wide as the terminal, and whose examples stay as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        from textwrap import wrap

        lines, sentences = list[str](), list[str]()

        def end_sentences() -> None:
            # What fits is left alone, so that lines which belong below each other stay there.
            too_wide = any(len(line) > width for line in sentences)
            lines.extend(wrap(" ".join(sentences), width, break_on_hyphens=False) if too_wide else sentences)
            sentences.clear()

        for line in text.strip().splitlines():
            if line and not line.startswith((" ", "billboards ")) and "   " not in line:
                sentences.append(line)
                continue
            end_sentences()
            command, gap, meaning = line.rstrip().partition("   ")
            if len(line) > width and command and gap:
                lines += [command, *wrap(meaning, width, initial_indent=" " * 4, subsequent_indent=" " * 4)]
            else:
                lines.append(line)
        end_sentences()
        return "\n".join(indent + line for line in lines)


class OneLineParser(ArgumentParser):
    """An argument parser whose complaints are one line that says where to look."""

    def _check_value(self, action: Action, value: object) -> None:
        """A word that is none of the choices is answered with the one that was meant, in whatever case."""
        if action.choices is None or value in action.choices:
            return
        from billboards.errors import nearest

        choices = list(map(str, action.choices))
        near = nearest(str(value), choices)
        hint = f"did you mean {', '.join(near)}?" if near else f"choose from {', '.join(choices)}"
        raise ArgumentError(action, f"there is no {value!r}; {hint}")

    def error(self, message: str) -> NoReturn:
        mark = "" if message.endswith("?") else ";"
        print(f"{self.prog}: {message}{mark} `{self.prog} --help` explains", file=sys.stderr)
        raise SystemExit(2)


def _run(command: str, arguments: list[str]) -> int:
    from importlib import import_module

    def run(_: Namespace) -> int:
        parsed = command_parser(command).parse_args(arguments)
        refuse_endless(parsed)
        return int(import_module(f"billboards.cli.{COMMANDS[command][0]}").run(parsed) or 0)

    return _guarded(run, Namespace())


def command_parser(command: str) -> ArgumentParser:
    """The parser of a command, whether it stands in the table or is made from an analysis."""
    from importlib import import_module

    if command in COMMANDS:
        module_name, summary = COMMANDS[command]
        module = import_module(f"billboards.cli.{module_name}")
        parser = _parser(command, module.__doc__ or summary)
        module.add_arguments(parser)
        return parser
    from billboards.analyses._declaration import declared
    from billboards.cli import _analyses

    asked = declared(command)
    parser = _parser(command, asked.explanation + (f"\n\nAfter {asked.paper}." if asked.paper else ""))
    _analyses.add_arguments(parser, asked)
    return parser


def _parser(command: str, description: str) -> OneLineParser:
    return OneLineParser(
        f"billboards {command}",
        description=description,
        formatter_class=FittingHelp,
        allow_abbrev=False,
    )


def _ask(name: str, arguments: list[str]) -> int:
    """Run the command of an analysis, which is made from its declaration."""
    from billboards.cli import _analyses

    def run(_: Namespace) -> int:
        from billboards.analyses import analysis_named

        parsed = command_parser(name).parse_args(arguments)
        refuse_endless(parsed)
        return _analyses.run(parsed, analysis_named(name))

    return _guarded(run, Namespace())


def _guarded(run: Callable[[Namespace], int], arguments: Namespace) -> int:
    """Run a command's function; every expected error becomes one line on stderr and an exit code."""
    from billboards.errors import BillboardsError, InvalidInput, MissingSetting

    try:
        refuse_endless(arguments)
        code = run(arguments)
        sys.stdout.flush()
    except (InvalidInput, MissingSetting) as error:
        return _fail(str(error), 2)
    except BillboardsError as error:
        return _fail(str(error), 1)
    except ModuleNotFoundError as error:
        from billboards.extras import answer_to

        answer = answer_to(error)
        if answer is None:
            raise
        return _fail(answer, 1)
    except KeyboardInterrupt:
        return _fail("stopped; what was finished is kept, the same command goes on from there", 130)
    except BrokenPipeError:
        # Whoever was reading has seen enough; stdout must not be flushed again at exit.
        sys.stdout = None
        return 0
    except OSError as error:
        # Readers and writers say more about their own files; what is left is a place that can't be used at all.
        return _fail(f"{error.filename or 'the system'}: {error.strerror or error}", 2 if error.filename else 1)
    return int(code or 0)


def refuse_endless(arguments: Namespace) -> None:
    """Refuse pipes and devices by name: nobody may ever write to the one, and the other may never end."""
    import os
    from stat import S_ISDIR, S_ISREG

    from billboards.errors import InvalidInput

    values = [item for value in vars(arguments).values() for item in (value if isinstance(value, list) else [value])]
    for path in values:
        if not isinstance(path, os.PathLike) or str(path).startswith(OPENED):
            continue
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - nothing but os has been imported
        except (OSError, ValueError):
            continue
        if not S_ISREG(mode) and not S_ISDIR(mode):
            raise InvalidInput(f"{path}: is a pipe or a device; give a file or a folder")


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    print(f"billboards: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
