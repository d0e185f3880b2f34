"""A page of the site as a file: relative links, no forms that need a server, scripts that run from a disk.

Pages come from our own templates, in which every text is escaped: a tag is all between < and >, an attribute all
between quotes. A link to what is not published becomes plain text, so that none is dead. Stylesheets stand beside the
pages instead of inside each, and scripts are plain ones, because a browser loads no modules from a disk.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from html import escape, unescape
from urllib.parse import quote, urlsplit

from billboards.site.publishing.places import Address, read_address

#: Where the stylesheet and the script of published pages lie.
STYLES, SCRIPT = "static/site.css", "static/published.js"
#: What draws charts; the interpreter of expressions, which a server's content policy asks for, is not among them.
LIBRARIES = ("vega.min.js", "vega-lite.min.js")
_TAG = re.compile(r"<(a|link|img|source|script|iframe|meta|button)\b([^>]*)>", re.I)
_ATTRIBUTE = re.compile(r'\b(href|src|srcset|action|content)="([^"]*)"')
_LINK = re.compile(r"<a\b([^>]*)>(.*?)</a>", re.S)
_FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.S)
_STYLE = re.compile(r"<style>.*?</style>\n?", re.S)
_PRELOAD = re.compile(r'<link rel="preload"[^>]*>\n?')
_CHANGED = re.compile(r'<div class="note good" id="changed".*?</div>\n?', re.S)
_MODULE = re.compile(r'<script type="module"([^>]*?) src="([^"]*)"([^>]*)></script>')
_LIVING = re.compile(r' data-chart="([^"]*)"')
_LIBRARIES = re.compile(r'(<script type="module" id="living"[^>]*?) data-files="([^"]*)"([^>]*></script>)')
_SELECT = re.compile(r'<label[^>]*>([^<]*)</label>\s*<select[^>]*name="([^"]*)">(.*?)</select>', re.S)
_NAMES = re.compile(r'<select[^>]*name="of">(.*?)</select>', re.S)
_SEVERAL = re.compile(r"<p>(Choose two to (?:\d+) generators, or two to (?:\d+) metrics\.)</p>")
#: What is said of comparisons on their page.
COMPARED = (
    "Comparisons of two that were published have a page each, with tests of significance. All others are computed "
    "here, in your browser, from the published scores: means, correlations and the texts that differ most, without "
    "tests."
)
_OPTION = re.compile(r'<option value="([^"]*)"[^>]*>([^<]*)</option>')
_TAB = re.compile(r'<li><span class="unpublished">[^<]*</span></li>\n?')
_COLUMNS = '<details class="columns" id="columns">'
#: Whose form is for scripts alone: without one it is not shown.
FOR_SCRIPTS = "data-for-scripts hidden"

#: The file of an address, None where it is not published.
Place = Callable[[Address], str | None]


def links_of(page: str) -> Iterator[str]:
    """The addresses that a page leads to or loads, as they stand in it."""
    for tag in _TAG.finditer(page):
        if tag[1].lower() == "meta" or 'rel="preload"' in tag[2]:
            continue
        for name, value in _ATTRIBUTE.findall(tag[2]):
            if name in ("href", "src"):
                yield unescape(value)
            elif name == "srcset":
                yield unescape(value.split(" ")[0])


def charts_of(page: str) -> Iterator[str]:
    """The addresses of the specifications of a page's charts."""
    yield from (unescape(address) for address in _LIVING.findall(page))


def rewrite(
    page: str, address: Address, own: str, place: Place, *, base: str = "", charts: Mapping[str, str] | None = None
) -> str:
    """The page of an address as the file `own`, its links relative to it; whole addresses begin with `base`.

    `charts` are the files of specifications by their addresses; a chart without one stays a picture.
    """
    up = "../" * own.count("/")
    page = _STYLE.sub(f'<link rel="stylesheet" href="{up}{STYLES}">\n', page, count=1)
    page = _PRELOAD.sub("", page)
    page = _CHANGED.sub("", page)
    page = _LIVING.sub(lambda chart: _living(unescape(chart[1]), own, charts or {}), page)
    page = _LIBRARIES.sub(lambda script: _libraries(script, up), page)
    page = _SEVERAL.sub(lambda words: f"<p {FOR_SCRIPTS}>{words[1]} {COMPARED}</p>", page)
    page = _FORM.sub(lambda form: _rewrite_form(form[1], form[2], address, own, place), page)
    page = page.replace(_COLUMNS, _COLUMNS.replace(">", f" {FOR_SCRIPTS}>"))
    page = _LINK.sub(lambda link: _rewrite_link(link[1], link[2], own, place), page)
    page = _MODULE.sub(lambda script: _rewrite_script(script, own, place), page)
    page = _TAG.sub(lambda tag: _rewrite_tag(tag, own, place), page)
    page = _TAB.sub("", page)
    page = _whole(page, base, place) if base else page
    board = "" if address.board is None else f' data-board="{posixpath.dirname(place(_home(address)) or "")}"'
    return page.replace("</head>", f'<script defer src="{up}{SCRIPT}" data-up="{up}"{board}></script>\n</head>', 1)


def _living(asked: str, own: str, charts: Mapping[str, str]) -> str:
    """Where a page finds the specification of a chart, and the name that it has there."""
    target = charts.get(asked)
    if target is None:
        return ""
    way = quote(posixpath.relpath(target, posixpath.dirname(own) or "."))
    return f' data-chart="{escape(way)}" data-name="{escape(target)}"'


def _libraries(script: re.Match[str], up: str) -> str:
    """The script that brings charts to life, with its libraries beside it; from a disk no module can be loaded."""
    files = " ".join(f"{up}static/{name}" for name in LIBRARIES)
    return f'{script[1]} data-files="{files}"{script[3]}'


def _whole(page: str, base: str, place: Place) -> str:
    """Whole addresses of the site in previews, citations and snippets, each as the file that it is here."""

    def lead(address: re.Match[str]) -> str:
        asked = read_address(unescape(address[1]) or "/")
        target = None if asked is None else place(asked)
        return address[0] if target is None else f"{escape(base)}/{quote(target)}"

    return re.sub(re.escape(escape(base)) + r"(/[^\s\"<>)}\]]*)", lead, page)


def _home(address: Address) -> Address:
    """The page of the board that an address belongs to."""
    return Address(address.parts[:2])


def relative(address: str, own: str, place: Place) -> str | None:
    """An address as it is reached from the file `own`: unchanged where it is of another site, None where there is none.

    Only addresses of the site begin with a slash.
    """
    if not address.startswith("/") or address.startswith("//"):
        return address
    asked = read_address(address)
    target = None if asked is None else place(asked)
    if target is None:
        return None
    # A place of a page is no place of another one that stands for it.
    is_instead = asked is not None and asked.rest == ("compare",) and "instance" in dict(asked.query)
    fragment = "" if is_instead else urlsplit(address).fragment
    way = quote(posixpath.relpath(target, posixpath.dirname(own) or "."))
    return way + (f"#{fragment}" if fragment else "")


def _rewrite_link(attributes: str, inner: str, own: str, place: Place) -> str:
    href = re.search(r'\bhref="([^"]*)"', attributes)
    if href is None or relative(unescape(href[1]), own, place) is not None:
        return f"<a{attributes}>{inner}</a>"
    if 'class="sort"' in attributes or "class='sort'" in attributes:
        # The script sorts by it; without one it is an arrow that says nothing.
        return f'<a class="sort" href="#board"{_without(attributes, "href", "class")}>{inner}</a>'
    return f'<span class="unpublished">{inner}</span>'


def _without(attributes: str, *names: str) -> str:
    for name in names:
        attributes = re.sub(rf'\s*\b{name}="[^"]*"', "", attributes)
    return attributes


def _rewrite_tag(tag: re.Match[str], own: str, place: Place) -> str:
    name, attributes = tag[1], tag[2]
    if name.lower() in ("meta", "button"):
        return tag[0]
    gone = False

    def lead(attribute: re.Match[str]) -> str:
        nonlocal gone
        way = relative(unescape(attribute[2]), own, place)
        gone |= way is None
        return f'{attribute[1]}="{escape(way or "")}"'

    rewritten = _ATTRIBUTE.sub(lead, attributes)
    return "" if gone and name != "a" else f"<{name}{rewritten}>"


def _rewrite_script(script: re.Match[str], own: str, place: Place) -> str:
    way = relative(unescape(script[2]), own, place)
    return "" if way is None else f'<script defer{script[1]} src="{escape(way)}"{script[3]}></script>'


def _rewrite_form(attributes: str, inner: str, address: Address, own: str, place: Place) -> str:
    """A form for the script of published pages, as links, or nothing."""
    if 'method="post"' in attributes:
        return ""
    if 'aria-label="Rank a part of the board"' in attributes:
        return _as_links(inner, address, own, place)
    if "finding" in attributes or 'name="pin"' in inner or 'method="dialog"' in attributes:
        # The script of the table does the first two on the page, and a browser closes dialogs.
        return f"<form{attributes}>{inner}</form>"
    action = re.search(r'\baction="([^"]*)"', attributes)
    asked = address if action is None else read_address(unescape(action[1]))
    rest = () if asked is None else asked.rest
    if rest == ("compare",) and ('name="second"' in inner or 'aria-label="Compare ' in attributes):
        every = _every_pair(inner, address, own, place) if address.rest == ("compare",) and not address.query else ""
        return f"<form{_without(attributes, 'action')} data-compare {FOR_SCRIPTS}>{inner}</form>{every}"
    if rest == ("instances",) and 'name="text"' in inner:
        return f"<form{attributes} data-explore {FOR_SCRIPTS}>{inner}</form>"
    return ""


def _every_pair(inner: str, address: Address, own: str, place: Place) -> str:
    """Links to the comparisons of all names of a form, for who runs no scripts."""
    first = _NAMES.search(inner)
    names = [] if first is None else [unescape(name) for name in re.findall(r"<option[^>]*>([^<]*)</option>", first[1])]
    base, links = place(Address(address.parts)), []
    for k, name in enumerate(names):
        for other in names[k + 1 :]:
            pair = Address(address.parts, (("first", name), ("second", other)))
            if place(pair) not in (None, base):
                way = relative(str(pair), own, place) or ""
                links.append(f'<li><a href="{escape(way)}">{escape(name)} against {escape(other)}</a></li>')
    if not links:
        return ""
    return f"<details><summary>All {len(links)} comparisons</summary><ul>{''.join(links)}</ul></details>"


def _as_links(inner: str, address: Address, own: str, place: Place) -> str:
    """The choices of a form as links, one for each that is published."""
    groups = []
    for label, name, options in _SELECT.findall(inner):
        links = []
        for value, words in _OPTION.findall(options):
            asked = Address(address.parts, ((name, unescape(value)),))
            way = relative(str(asked), own, place) if value else None
            if way is not None and place(asked) != place(Address(address.parts)):
                links.append(f'<a href="{escape(way)}">{words}</a>')
        if links:
            groups.append(f"<dt>{label}</dt><dd>{' · '.join(links)}</dd>")
    if not groups:
        return "<p>Parts of this board were not ranked when it was published.</p>"
    return f'<dl class="pairs">{"".join(groups)}</dl>'
