"""What an analysis is: a function from a view of a board to a result, and how that result is shown.

The function's signature is the declaration. Its first parameter is the `View`; every other parameter has a type, a
default and a sentence, as in `draws: Annotated[int, Ge(0), "bootstrap draws"] = 1000`. Parameters before the `*` may be
given by position. From this one place come the command with its help, the Python verb, the HTTP route with its schema,
the page of the site, the section of the report and the entry in the docs, so that none of them can say anything else.

    @analysis()
    def spread(view: View, *, metric: Annotated[str, "the metric to look at"] = "BLEU") -> Spread:
        \"""How far apart a metric puts the generators.\"""

    @spread.table
    def _table(result: Spread) -> Table: ...
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from billboards.analyses._labels import relabelled, relabelled_table
from billboards.analyses._view import Scoring, View, look_at
from billboards.board import Board, Slice
from billboards.board.card_facts import draft_note
from billboards.board.matrix import column_labels
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.metrics.labels import relabelled_text
from billboards.options import Option, check_options, options_of
from billboards.show.documents import document_of
from billboards.show.table import Table

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Theme

P = ParamSpec("P")
R = TypeVar("R")

#: The parts of a view that somebody may choose, beside the analysis' own options.
Chooses = Literal["aggregate", "part"]


@dataclass(frozen=True, kw_only=True)
class Result(Generic[R]):
    """What an analysis returns: it prints as tables, shows as HTML in a notebook, and turns into frames or JSON.

    `value` is the result itself, `tables` and `words` show it, `document` is its JSON.
    """

    value: R
    tables: tuple[Table, ...]
    document: Mapping[str, Any]
    #: What was found, in sentences.
    words: tuple[str, ...] = ()
    #: Things a person should know that are no part of the result.
    notes: tuple[str, ...] = ()
    #: Charts, each drawn for a theme when asked for.
    charts: tuple[Callable[[Theme], alt.LayerChart], ...] = ()
    #: LaTeX of its own, where a paper has a form for it.
    latex: Callable[[], str] | None = None

    def to_text(self, *, wide: bool = False) -> str:
        """The tables as they print; `wide` has every column, however many there are."""
        from billboards.show.terminal import tables_text

        return tables_text(self.tables, wide=wide)

    def to_pandas(self, table: int = 0) -> Any:
        """One of the tables as a pandas data frame."""
        from billboards.show.frames import to_pandas

        return to_pandas(self.tables[table])

    def to_polars(self, table: int = 0) -> Any:
        """One of the tables as a polars data frame."""
        from billboards.show.frames import to_polars

        return to_polars(self.tables[table])

    def to_latex(self, table: int | str = 0, *, wide: bool = False, **style: Any) -> str:
        r"""One of the tables for a paper, to \\input.

        table: its number or name
        wide: whether every column is there, however many
        style: label and star, and what `to_markdown` takes
        """
        from billboards.show.latex import LATEX, to_latex

        own = {option.name: style.pop(option.name) for option in LATEX if option.name in style}
        return to_latex(self._arranged(table, style), wide=wide, **own)

    def to_markdown(self, table: int | str = 0, *, wide: bool = False, **style: Any) -> str:
        """One of the tables as Markdown.

        table: its number or name
        wide: whether every column is there
        style: columns, rows, digits, bold, heat, caption, notes, as `billboards.show.arranging.arranged` explains them
        """
        from billboards.show.markdown import to_markdown

        return to_markdown(self._arranged(table, style), wide=wide)

    def to_html(self, table: int | str = 0, **style: Any) -> str:
        """One of the tables as HTML; what `style` may hold is that of `to_markdown`."""
        from billboards.show.frames import table_html

        return table_html(self._arranged(table, style))

    def to_csv(self, table: int | str = 0) -> str:
        """One of the tables as CSV, all its columns in full precision."""
        from billboards.show.csv import to_csv

        return to_csv(self._arranged(table, {}))

    def _arranged(self, table: int | str, style: Mapping[str, Any]) -> Table:
        from billboards.show.arranging import arrange

        names = [each.name for each in self.tables]
        if isinstance(table, str) and table not in names:
            raise UnknownName("table", table, names)
        return arrange(self.tables[names.index(table) if isinstance(table, str) else table], style)

    def save_chart(self, path: str | Path, number: int = 0) -> tuple[Path, ...]:
        """Write one of the charts: .pdf, .svg or .png for a paper, or its data as .csv or .dat; the files written."""
        from billboards.show.figures import save_chart

        return save_chart(self.chart(number, theme="paper"), path)

    def chart(self, number: int = 0, *, theme: Theme = "light") -> alt.LayerChart:
        """One of the charts."""
        if not self.charts:
            raise InvalidInput("this result has no chart")
        return self.charts[number](theme)

    def drawn(self) -> list[Callable[[Theme], alt.LayerChart]]:
        """The charts that this result has anything to draw for."""
        drawable = []
        for draw in self.charts:
            try:
                draw("light")
            except NotEnoughData:
                continue
            drawable.append(draw)
        return drawable

    def _repr_html_(self) -> str:
        from billboards.show.notebooks import tables_html

        return tables_html(self.tables, self.words)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        """What a notebook may choose from: tables as HTML, the first chart as Vega-Lite, and plain text."""
        from billboards.show.notebooks import chart_bundle

        charts = chart_bundle(self.charts[0]("light")) if self.drawn()[:1] else {}
        return {"text/plain": str(self), "text/html": self._repr_html_(), **charts}

    def _ipython_display_(self) -> None:
        """Tables and, below them, a chart that answers the mouse; a notebook would show but one of the two."""
        from billboards.show.notebooks import display

        display(
            {"text/plain": str(self), "text/html": self._repr_html_()}, (draw("light") for draw in self.drawn()[:1])
        )

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__


Tables = Callable[[R], Table | Iterable[Table]]


@dataclass(kw_only=True)
class Analysis(Generic[P, R]):
    """A question that can be asked of a board; called, it answers with a `Result`."""

    name: str
    function: Callable[..., R]
    #: Which parts of the view may be chosen.
    view: tuple[Chooses, ...] = ("aggregate", "part")
    #: Whether it computes scores that are missing, where that is allowed.
    scores: bool = False
    #: Whether a page computes it when it is opened, or only when somebody asks for it there.
    quick: bool = True
    #: What it is for, as `billboards --help` groups commands.
    group: str = ""
    #: The paper and section that it follows.
    paper: str = ""
    _tables: Tables[R] | None = None
    _words: Callable[[R], Iterable[str]] | None = None
    _charts: list[Callable[[R, Theme], alt.LayerChart | None]] = field(default_factory=list)
    _latex: Callable[[R], str] | None = None
    _notes: Callable[[View, R], Iterable[str]] | None = None
    _asked: Callable[[View], Iterable[Mapping[str, Any]]] | None = None
    _keep: Callable[[View, R], R] | None = None

    # How a result is shown: each may be declared once, in the analysis' own file.

    def table(self, show: Tables[R]) -> Tables[R]:
        """Declare the table or tables of a result."""
        self._tables = show
        return show

    def words(self, say: Callable[[R], Iterable[str]]) -> Callable[[R], Iterable[str]]:
        """Declare the findings of a result, in sentences."""
        self._words = say
        return say

    def chart(self, draw: Callable[[R, Theme], alt.LayerChart | None]) -> Callable[[R, Theme], alt.LayerChart | None]:
        """Declare a chart of a result; one that can't be drawn is None."""
        self._charts.append(draw)
        return draw

    def latex(self, write: Callable[[R], str]) -> Callable[[R], str]:
        """Declare a LaTeX form that isn't that of the tables."""
        self._latex = write
        return write

    def notes(self, say: Callable[[View, R], Iterable[str]]) -> Callable[[View, R], Iterable[str]]:
        """Declare what a person should be told beside the result."""
        self._notes = say
        return say

    def in_report(
        self, ask: Callable[[View], Iterable[Mapping[str, Any]]]
    ) -> Callable[[View], Iterable[Mapping[str, Any]]]:
        """Declare what a report asks, where that isn't the analysis with its defaults."""
        self._asked = ask
        return ask

    def keep(self, keep: Callable[[View, R], R]) -> Callable[[View, R], R]:
        """Declare how an answer is kept in the board's folder; it may come back with a name that it got there."""
        self._keep = keep
        return keep

    # What doors read.

    @property
    def has_chart(self) -> bool:
        return bool(self._charts)

    @property
    def keeps(self) -> bool:
        """Whether answers can be kept."""
        return self._keep is not None

    @property
    def summary(self) -> str:
        """The question in one sentence."""
        return self.explanation.partition("\n")[0]

    @property
    def explanation(self) -> str:
        return inspect.getdoc(self.function) or ""

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Every option, in the order of the signature."""
        return options_of(self.function)

    @cached_property
    def result_types(self) -> tuple[type, ...]:
        """The types that a result may have."""
        answer = get_type_hints(self.function)["return"]
        return get_args(answer) if get_origin(answer) in (Union, UnionType) else (answer,)

    def asked_in_report(self, view: View) -> list[Mapping[str, Any]]:
        """The options that a report asks it with."""
        return [{}] if self._asked is None else list(self._asked(view))

    def naming(self, board: Board, options: Mapping[str, Any]) -> dict[str, Any]:
        """Options in which a file, a function or the like stands for scores, with the name of their column instead.

        This runs what was named, so it is for whoever asks at his own machine, and never for what a site is sent.
        """
        from billboards.metrics.discovery import column_name, is_name

        named = {option.name for option in self.options if option.metrics == "scored"}
        asked = {name: options[name] for name in named & set(options) if not is_name(options[name])}
        if not asked:
            return dict(options)
        cells = look_at(board).cells
        own = () if cells is None else (key.column.name for key in cells.columns())
        imported = (name for column in board.imported for name in (column.name, column.source_name))
        taken = {*(generator.name for generator in board.generators), *imported, *own}
        opened = {name: column_name(value) for name, value in asked.items() if value not in taken}
        return {**options, **opened}

    def run(self, view: View, *, save: bool = False, **options: Any) -> Result[R]:
        """Ask the question of a view; `save` keeps the answer in the board's folder, where it is one that is kept."""
        value = self.function(view, **check_options(self.name, self.options, options))
        if save and self._keep is not None and view.archive is not None:
            value = self._keep(view, value)
        return self.show(value, view)

    def show(self, value: R, view: View | None = None) -> Result[R]:
        """A result with all that shows it; columns are headed by their labels."""
        labels = {} if view is None else column_labels(view.counted, view.cells)
        headed = relabelled(value, labels)
        if isinstance(headed, Table):
            tables: tuple[Table, ...] = (headed,)
        else:
            shown = () if self._tables is None else self._tables(headed)
            tables = (shown,) if isinstance(shown, Table) else tuple(shown)
        document = document_of(value, self.name) | ({"labels": labels} if labels else {})
        if view is not None:
            tables, document = marked(view.board, tables, document)
        words = () if self._words is None else tuple(self._words(headed))
        notes = () if self._notes is None or view is None else tuple(self._notes(view, headed))
        return Result(
            value=value,
            tables=tuple(relabelled_table(table, labels) for table in tables) if labels else tables,
            document=document,
            words=tuple(relabelled_text(text, labels) for text in words),
            notes=tuple(relabelled_text(text, labels) for text in notes),
            charts=tuple(_drawing(draw, headed) for draw in self._charts),
            latex=None if self._latex is None else _writing(self._latex, headed),
        )

    def __call__(self, board: Board | View, /, *args: Any, **options: Any) -> Result[R]:
        """Ask the question of a board, or of a view of one; `aggregate` and `part` choose what is looked at."""
        positional = [option.name for option in self.options if option.positional]
        if len(args) > len(positional):
            raise TypeError(f"{self.name} takes {len(positional)} options by position; {len(args)} were given")
        looked_at = board.board if isinstance(board, View) else board
        options = self.naming(looked_at, options | dict(zip(positional, args, strict=False)))
        chosen = {word: options.pop(word) for word in ("aggregate", "part") if word in self.view and word in options}
        save = bool(options.pop("save", False)) if self.keeps else False
        computing = {word: options.pop(word) for word in ("jobs", "on_progress") if self.scores and word in options}
        if isinstance(board, View):
            return self.run(board.choosing(**chosen), save=save, **options)
        scoring = Scoring(**computing) if self.scores and board.home is not None else None
        return self.run(look_at(board, scoring=scoring, **chosen), save=save, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        """What `help()` shows: the board, the options, and what all analyses take."""
        own = list(inspect.signature(self.function).parameters.values())[1:]
        kind = inspect.Parameter.KEYWORD_ONLY
        extra = []
        if "aggregate" in self.view:
            extra.append(inspect.Parameter("aggregate", kind, default=None, annotation=str | None))
        if "part" in self.view:
            extra.append(inspect.Parameter("part", kind, default=None, annotation=Slice | None))
        if self.keeps:
            extra.append(inspect.Parameter("save", kind, default=False, annotation=bool))
        if self.scores:
            extra.append(inspect.Parameter("jobs", kind, default=1, annotation=int))
        board = inspect.Parameter("board", inspect.Parameter.POSITIONAL_ONLY, annotation=Board | View)
        return inspect.Signature([board, *own, *extra], return_annotation=Result)

    @property
    def __doc__(self) -> str:  # type: ignore[override]  # made when asked: what keeps and shows it is declared later
        """The explanation, with a line for every option and an example."""
        return explained(self)

    def __repr__(self) -> str:
        return f"<analysis {self.name}: {self.summary}>"

    @property
    def __name__(self) -> str:
        return self.name.replace("-", "_").replace(" ", "_")


def marked(
    board: Board, tables: tuple[Table, ...], document: dict[str, Any]
) -> tuple[tuple[Table, ...], dict[str, Any]]:
    """Tables and document of a result, saying so where the board is a draft."""
    draft = draft_note(board)
    if draft is None:
        return tables, document
    first = tuple(replace(table, notes=(*table.notes, draft)) for table in tables[:1])
    return first + tables[1:], document | {"draft": list(board.missing_facts)}


#: What every analysis says of the options that all of them share.
SHARED = {
    "aggregate": "the aggregate or dimension of judgments to look at (default: the one that ranks the board)",
    "part": "a `Slice` of the board: only these instances (default: all)",
    "save": "keep the answer in the board's folder",
    "jobs": "processes that compute missing scores",
}


def explained(asked: Analysis[Any, Any]) -> str:
    """An analysis in words: what it asks, each option, and how to call it."""
    lines = [asked.explanation, "", "board: a board, or a view of one"]
    lines += [f"{option.name}: {option.help}" for option in asked.options]
    lines += [f"{word}: {SHARED[word]}" for word in asked.view]
    lines += [f"{word}: {SHARED[word]}" for word, has in (("save", asked.keeps), ("jobs", asked.scores)) if has]
    return "\n".join([*lines, "", "Example:", "", f'    bb.{asked.__name__}(bb.open("my-board"))'])


def analysis(
    name: str | None = None,
    *,
    view: Sequence[Chooses] = ("aggregate", "part"),
    scores: bool = False,
    quick: bool = True,
    group: str = "",
    paper: str = "",
) -> Callable[[Callable[Concatenate[View, P], R]], Analysis[P, R]]:
    """Declare a function to be an analysis; its name is the function's unless another is given.

    name: what people ask for; the function's own name, with dashes for underscores, unless another is given
    view: what a reader may choose of a board beside the options: the aggregate, the part
    scores: it needs cells, and computes those that are missing
    quick: it takes seconds at most, so that pages and reports may ask it
    group: where `billboards --help` lists it
    paper: the paper, or the section of one, that it follows

    Example:

        @analysis(group="boards")
        def longest(view: View) -> str: ...
    """

    def declare(function: Callable[Concatenate[View, P], R]) -> Analysis[P, R]:
        called = name or function.__name__.replace("_", "-")
        return Analysis(
            name=called,
            function=function,
            view=tuple(view),
            scores=scores,
            quick=quick,
            group=group,
            paper=paper,
        )

    return declare


def _drawing(draw: Callable[[R, Theme], alt.LayerChart | None], value: R) -> Callable[[Theme], alt.LayerChart]:
    def drawn(theme: Theme) -> alt.LayerChart:
        chart = draw(value, theme)
        if chart is None:
            raise NotEnoughData("this result has nothing to draw")
        return chart

    return drawn


def _writing(write: Callable[[R], str], value: R) -> Callable[[], str]:
    return lambda: write(value)
