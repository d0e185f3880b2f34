"""`billboards campaign template`: list, show, check and preview what annotators are asked."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    actions.add_parser("list", help="the templates that come with billboards")
    for name, text in (
        ("show", "a template's file, to begin your own with"),
        ("check", "every mistake in a template file"),
        ("preview", "a template as annotators will meet it"),
    ):
        below = actions.add_parser(name, help=text)
        below.add_argument("template", metavar="TEMPLATE", help="a name from the list, or the path of a .toml file")


def run(arguments: Namespace) -> int:
    return {"list": _list, "show": _show, "check": _check, "preview": _preview}[arguments.what](arguments)


def _list(_: Namespace) -> int:
    from billboards.campaigns.template_files import open_template, shipped

    for name in shipped():
        template = open_template(name)
        print(f"{name:26}{template.title}")
    return 0


def _show(arguments: Namespace) -> int:
    from billboards.campaigns.template_files import template_source

    print(template_source(arguments.template), end="")
    return 0


def _check(arguments: Namespace) -> int:
    from billboards.campaigns.template_files import check_template, open_template

    problems = check_template(arguments.template)
    for problem in problems:
        print(problem)
    if problems:
        return 1
    print(f"no mistakes: {open_template(arguments.template).signature}")
    return 0


def _preview(arguments: Namespace) -> int:
    from billboards.campaigns.preview import preview
    from billboards.campaigns.template_files import open_template

    print(preview(open_template(arguments.template)), end="")
    return 0
