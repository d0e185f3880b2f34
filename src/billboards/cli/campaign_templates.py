"""`billboards campaign template`: list, show, check and preview what annotators are asked."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    options.add_json(actions.add_parser("list", help="the templates that come with billboards"))
    for name, text in (
        ("show", "a template's file, to begin your own with"),
        ("check", "every mistake in a template file"),
        ("preview", "a template as annotators will meet it"),
    ):
        below = actions.add_parser(name, help=text)
        below.add_argument("template", metavar="TEMPLATE", help="a name from the list, or the path of a .toml file")
        if name == "check":
            options.add_json(below)


def run(arguments: Namespace) -> int:
    return {"list": _list, "show": _show, "check": _check, "preview": _preview}[arguments.what](arguments)


def _list(arguments: Namespace) -> int:
    from billboards.campaigns.template_files import open_template, shipped
    from billboards.cli.output import print_document

    titles = {name: open_template(name).title for name in shipped()}
    if arguments.json:
        entries = [{"name": name, "title": title} for name, title in titles.items()]
        print_document("templates", {"templates": entries})
        return 0
    for name, title in titles.items():
        print(f"{name:26}{title}")
    return 0


def _show(arguments: Namespace) -> int:
    from billboards.campaigns.template_files import template_source

    print(template_source(arguments.template), end="")
    return 0


def _check(arguments: Namespace) -> int:
    from billboards.campaigns.template_files import check_template, open_template
    from billboards.cli.output import print_document

    problems = check_template(arguments.template)
    signature = None if problems else open_template(arguments.template).signature
    if arguments.json:
        print_document("template", {"signature": signature, "problems": [asdict(problem) for problem in problems]})
    else:
        for problem in problems:
            print(problem)
        if not problems:
            print(f"no mistakes: {signature}")
    return 1 if problems else 0


def _preview(arguments: Namespace) -> int:
    from billboards.campaigns.preview import preview
    from billboards.campaigns.template_files import open_template

    print(preview(open_template(arguments.template)), end="")
    return 0
