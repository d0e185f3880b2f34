"""Write boards as a website of plain files: for GitHub Pages, a Space, a bucket, or a USB stick.

    billboards publish my-board -o public
    billboards publish --site billboards-site -o public
    billboards publish --template github my-leaderboard

The pages are those of the site as a visitor sees them, with all tables, charts, searches, comparisons and downloads.
All links are relative, so the folder works below any address and opened from a disk, with scripts on or off. The same
boards give the same files, and publishing again touches only what changed. Scores that are missing are computed first
and kept in the board folder. `--template` writes a repository that ranks every pull request and publishes by itself.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.site.publishing.walking import Outcome
    from billboards.site.site import Site


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("boards", type=Path, nargs="*", metavar="BOARD", help="the board folders")
    parser.add_argument("-o", "--out", type=Path, metavar="DIR", help="the folder to write; a new or a published one")
    parser.add_argument(
        "--site", type=Path, metavar="DATA", help="publish the boards of this site's data folder, as visitors see them"
    )
    parser.add_argument(
        "--suite",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="publish this suite's results too; may be repeated",
    )
    parser.add_argument("--title", default="", metavar="TEXT", help="the name of the site (default: billboards)")
    parser.add_argument(
        "--base-url",
        default="",
        metavar="URL",
        help="where the pages will be, for link previews, badges, citations and the sitemap; links stay relative",
    )
    parser.add_argument(
        "--submit-to", default="", metavar="URL", help="the repository that the page Submit leads to (default: none)"
    )
    parser.add_argument(
        "--instances",
        default="all",
        metavar="WHICH",
        help="pages of single instances: all (default), judged, none, or a number: the first so many",
    )
    parser.add_argument(
        "--pairs",
        type=options.none_or_more,
        default=150,
        metavar="N",
        help="comparisons to write, of generators and of metrics each (default 150; more pairs: the nearest by rank)",
    )
    parser.add_argument("--no-parts", action="store_true", help="don't rank parts of the boards (domains, tags, …)")
    parser.add_argument("--no-analyses", action="store_true", help="leave out the pages of analyses")
    parser.add_argument(
        "--hide",
        action="append",
        default=[],
        choices=("references", "judgments"),
        metavar="WHAT",
        help="references or judgments: publish without them; may be repeated",
    )
    parser.add_argument("--draft", action="store_true", help="publish boards whose data card lacks facts too")
    parser.add_argument(
        "--template",
        nargs=2,
        metavar=("HOST", "DIR"),
        help="write a ready repository instead: github (Pages, with Actions) or space (a static Hugging Face Space)",
    )
    options.add_jobs(parser)


def run(arguments: Namespace) -> int:
    from billboards.cli.output import note
    from billboards.cli.serve import check_installed
    from billboards.errors import InvalidInput

    if arguments.template is not None:
        return _write_template(arguments)
    check_installed()
    if arguments.out is None:
        raise InvalidInput("say where to write: `billboards publish BOARD -o DIR`")
    if bool(arguments.boards) == (arguments.site is not None):
        raise InvalidInput("name board folders, or a site's data folder with --site")
    _check_instances(arguments.instances)
    _check_address(arguments.base_url, "--base-url")
    _check_address(arguments.submit_to, "--submit-to")
    from billboards.site.publishing.folders import check_target, publish_into
    from billboards.site.publishing.walking import write_site

    check_target(arguments.out)
    _refuse_inside(arguments)
    outcome: list[Outcome] = []
    with _site(arguments) as site, _progress() as tell:

        def write(folder: Path) -> None:
            outcome.append(
                write_site(
                    site,
                    folder,
                    instances=arguments.instances,
                    pairs=arguments.pairs,
                    parts=not arguments.no_parts,
                    analyses=not arguments.no_analyses,
                    tell=tell,
                )
            )

        changes = publish_into(arguments.out, write)
    written = outcome[0]
    note(
        f"wrote {written.pages:,} pages ({written.instances:,} of instances), {written.files:,} files, "
        f"{written.bytes / 2**20:,.1f} MB to {arguments.out}: {changes.new:,} new, {changes.changed:,} changed, "
        f"{changes.same:,} as before, {changes.gone:,} gone; open {arguments.out / 'index.html'}"
    )
    return 0


def _check_instances(wanted: str) -> None:
    from billboards.errors import InvalidInput

    if wanted not in ("all", "judged", "none") and not (wanted.isascii() and wanted.isdecimal()):
        raise InvalidInput(f"--instances {wanted}: write all, judged, none, or a number")


def _check_address(address: str, option: str) -> None:
    from billboards.errors import InvalidInput

    if address and not address.startswith(("https://", "http://")):
        raise InvalidInput(f"{option} {address}: must begin with https:// or http://")


def _refuse_inside(arguments: Namespace) -> None:
    """Refuse to write into a board: its files would be read as the board's next time."""
    from billboards.errors import InvalidInput

    out = arguments.out.resolve()
    for folder in (*arguments.boards, *([arguments.site] if arguments.site else [])):
        if out == folder.resolve() or folder.resolve() in out.parents:
            raise InvalidInput(f"{arguments.out}: lies inside {folder}; choose a folder beside it")


@contextmanager
def _site(arguments: Namespace) -> Iterator[Site]:
    """The site that is written: one that runs, or one made of the folders."""
    from contextlib import closing

    from billboards.cli.output import note
    from billboards.errors import InvalidInput
    from billboards.site.publishing.source import for_visitors, momentary_site
    from billboards.site.site import open_site

    told = {"title": arguments.title, "base_url": arguments.base_url, "submit_to": arguments.submit_to}
    if arguments.site is not None:
        if arguments.hide:
            raise InvalidInput("--hide is for board folders; a site hides what its settings say")
        if not (arguments.site / "boards").is_dir():
            raise InvalidInput(f"{arguments.site}: is no data folder of a site")
        with closing(open_site(arguments.site, suites=arguments.suite)) as site:
            yield for_visitors(site, signs=True, **told)
        return
    for folder in arguments.boards:
        _score(folder, arguments.jobs)
    with momentary_site(
        arguments.boards, suites=arguments.suite, hide=arguments.hide, drafts=arguments.draft, tell=note, **told
    ) as site:
        yield site


def _score(folder: Path, jobs: int) -> None:
    """Compute what is missing, and keep it with the board: the next run has it."""
    from billboards.api.board_scores import score
    from billboards.board.folder import open_board
    from billboards.cli.progress import scoring_progress

    with scoring_progress() as show:
        score(open_board(folder), jobs=jobs, on_progress=show)


@contextmanager
def _progress() -> Iterator[Callable[[int, int, float], None]]:
    """Says how far the pages are, on a terminal."""
    from billboards.board.missing_cells import Progress
    from billboards.cli.progress import scoring_progress

    with scoring_progress("writing pages") as show:
        yield lambda done, total, _: show(Progress(done, total, "writing pages"))


def _write_template(arguments: Namespace) -> int:
    from billboards.cli.output import note
    from billboards.errors import InvalidInput
    from billboards.site.publishing.repositories import HOSTS, write_repository

    host, folder = arguments.template
    if host not in HOSTS:
        raise InvalidInput(f"--template {host}: there are {', '.join(HOSTS)}")
    boards = arguments.boards
    files = write_repository(host, Path(folder), boards)
    note(f"wrote {len(files)} files to {folder}; {folder}/README.md says how to go on")
    return 0
