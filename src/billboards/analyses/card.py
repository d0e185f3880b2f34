"""Print a board's data card: what its owner states, and everything about the data that can be counted.

Measuring a board for its data card: counts, lengths, copies, use of scales, and whether people agree.

Nothing here is claimed by anyone. Agreement is Krippendorff's alpha over the outputs that several people judged, an
annotator's second judgment of an output aside; where each output has one value, a mean over people say, there is none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

import numpy as np

from billboards.analyses._analysis import analysis
from billboards.analyses._scale_use import measure_dimension
from billboards.analyses._view import View
from billboards.board import Board, Copies, Lengths, MeasuredCard, ScaleUse, Spread
from billboards.show.table import Table, TableColumn, shown
from billboards.show.words import MISSING, interval_text, listed, value_text

Texts = Sequence[str]
LOOSE = "outputs without a generator"


def measure_card(board: Board, *, hidden: Sequence[str] = (), draws: int = 200, seed: int = 0) -> MeasuredCard:
    """The data card of a board as its reader may see it; `hidden` says which parts were taken out of it before."""
    judgments = board.judgments
    kinds = Counter(generator.kind for generator in board.generators)
    outputs = [[text for text in row.texts if text is not None] for row in board.rows]
    loose = sum(len(texts) for row, texts in zip(board.rows, outputs, strict=True) if row.generator is None)
    counts = [len(instance.references) for instance in board.instances]
    return MeasuredCard(
        board=board.name,
        version=board.version,
        stated=board.card,
        input_language=board.input_language,
        output_language=board.output_language,
        instances=len(board.instances),
        documents=len({i.document for i in board.instances if i.document is not None}),
        domains=len({i.domain for i in board.instances if i.domain is not None}),
        machines=kinds["machine"],
        people=kinds["human"],
        loose_outputs=loose,
        outputs=sum(map(len, outputs)),
        reference_names=board.reference_names,
        references=_spread(counts) if any(counts) else None,
        judgments=len(judgments),
        annotators=len(judgments.annotators),
        unnamed=int((judgments.annotator < 0).sum()),
        campaigns=judgments.campaigns,
        dimensions=tuple(measure_dimension(board, d, draws=draws, seed=seed) for d in board.dimensions.values()),
        lengths=tuple(_lengths(board, [text for texts in outputs for text in texts])),
        copies=_copies(board),
        missing=board.missing_facts,
        hidden=tuple(hidden),
    )


def _spread(values: Sequence[float]) -> Spread:
    numbers = np.asarray(values, np.float64)
    return Spread(
        lowest=float(numbers.min()),
        median=float(np.median(numbers)),
        mean=float(numbers.mean()),
        highest=float(numbers.max()),
    )


def _lengths(board: Board, outputs: Texts) -> Iterable[Lengths]:
    inputs = [instance.input for instance in board.instances if instance.input is not None]
    references = [reference.text for instance in board.instances for reference in instance.references]
    for kind, texts in (("inputs", inputs), ("references", references), ("outputs", outputs)):
        written = [text for text in texts if text.strip()]
        words = _spread([len(text.split()) for text in written]) if written else None
        characters = _spread([len(text) for text in written]) if written else None
        yield Lengths(kind=kind, texts=len(texts), empty=len(texts) - len(written), words=words, characters=characters)


def _copies(board: Board) -> Copies:
    """Inputs, outputs and references that are the same but for case, spacing and punctuation at the ends."""
    inputs = [(i.input, i.image) for i in board.instances if i.input or i.image]
    folded = [tuple(map(_folded, row.texts)) for row in board.rows]
    references = [{_folded(reference.text) for reference in i.references} for i in board.instances]
    leaking: Counter[str] = Counter()
    for row, texts in zip(board.rows, folded, strict=True):
        if not board.is_reference(row, board.reference_names):
            name = LOOSE if row.generator is None else row.name
            leaking[name] += sum(
                bool(t) and t in reference_texts for t, reference_texts in zip(texts, references, strict=True)
            )
    return Copies(
        inputs=len(inputs) - len(set(inputs)),
        outputs=sum(_again(column) for column in zip(*folded, strict=True)),
        repeated=sum(_repeated(texts, board) for row, texts in zip(board.rows, folded, strict=True) if row.generator),
        leaked=leaking.total(),
        leaking={name: count for name, count in leaking.most_common() if count},
    )


def _folded(text: str | None) -> str:
    return "" if text is None else " ".join(text.casefold().split()).strip(" .")


def _again(texts: Iterable[str]) -> int:
    written = [text for text in texts if text]
    return len(written) - len(set(written))


def _repeated(texts: Sequence[str], board: Board) -> int:
    """How many of a row's texts stand at an instance with another input as well."""
    first: dict[str, object] = {}
    count = 0
    for text, instance in zip(texts, board.instances, strict=True):
        asked = (instance.input, instance.image) if instance.input or instance.image else instance.id
        count += bool(text) and first.setdefault(text, asked) != asked
    return count


#: BEAMetrics' word for a fact, where the key in `board.toml` is another.
WORDS = {"source": "data"}
MOST_LEAKING = 4


def card_tables(card: MeasuredCard) -> tuple[Table, ...]:
    """What is stated, and what was counted."""
    tables = [_stated(card), _counted(card), dimension_table(card), length_table(card)]
    return tuple(table for table in tables if table.rows)


def stated_facts(card: MeasuredCard) -> list[tuple[str, str]]:
    """The facts that somebody stated, in the order of a card, then those that nobody did."""
    stated = [
        (f.name, getattr(card.stated, f.name)) for f in fields(card.stated) if f.name not in ("title", "languages")
    ]
    facts = [("languages", _languages(card)), *((WORDS.get(name, name), text) for name, text in stated)]
    facts = [(name, text) for name, text in facts if text]
    return facts + ([("not stated", ", ".join(card.missing))] if card.missing else [])


def _languages(card: MeasuredCard) -> str:
    if card.stated.languages:
        return card.stated.languages
    if card.input_language and card.input_language != card.output_language:
        return f"{card.input_language} to {card.output_language or MISSING}"
    return card.output_language or ""


def counted_facts(card: MeasuredCard) -> list[tuple[str, str]]:
    """What was counted, in words."""
    return [(name, text) for name, text in _counts(card) if text]


def _counts(card: MeasuredCard) -> Iterator[tuple[str, str]]:
    parts = [f"{value_text(card.documents)} documents" * (card.documents > 0)]
    parts += [f"{value_text(card.domains)} domains" * (card.domains > 1)]
    yield "instances", _with(value_text(card.instances), parts)
    kinds = [(card.machines, "machine"), (card.people, "human")]
    generators = ", ".join(f"{value_text(count)} {kind}" for count, kind in kinds if count)
    yield "generators", generators or "none: outputs belong to no generator"
    yield "outputs", value_text(card.outputs)
    yield "references per instance", "hidden" if "references" in card.hidden else _references(card)
    if "judgments" in card.hidden:
        yield "judgments", "hidden"
    else:
        yield (
            "judgments",
            _with(value_text(card.judgments), [_campaigns(card)]),
        )
        yield "annotators", _annotators(card)
    yield from _copies_card_tables(card)


def _campaigns(card: MeasuredCard) -> str:
    word = "campaign" if len(card.campaigns) == 1 else "campaigns"
    return f"{word} {listed(card.campaigns)}" if card.campaigns else ""


def _with(text: str, more: list[str]) -> str:
    additions = ", ".join(part for part in more if part)
    return f"{text} ({additions})" if additions else text


def _references(card: MeasuredCard) -> str:
    if card.references is None:
        return "none"
    spread = card.references
    if spread.lowest == spread.highest:
        return f"{spread.lowest:.0f} ({listed(card.reference_names)})"
    return f"{spread.lowest:.0f} to {spread.highest:.0f}, {spread.mean:.1f} on average ({listed(card.reference_names)})"


def _annotators(card: MeasuredCard) -> str:
    if not card.judgments:
        return ""
    if not card.annotators:
        return "not named in the data"
    unnamed = f"; {value_text(card.unnamed)} judgments name nobody" if card.unnamed else ""
    return f"{value_text(card.annotators)}{unnamed}"


def _copies_card_tables(card: MeasuredCard) -> Iterator[tuple[str, str]]:
    copies = card.copies
    duplicates = {
        "inputs that repeat another": copies.inputs,
        "outputs that are another's for the same instance": copies.outputs,
        "outputs that are their generator's for another input": copies.repeated,
    }
    yield (
        "duplicates",
        "; ".join(f"{what}: {value_text(count)}" for what, count in duplicates.items() if count) or "none",
    )
    if "references" not in card.hidden and card.references is not None:
        names = [f"{name} {value_text(count)}" for name, count in copies.leaking.items()] if card.machines else []
        whose = f" ({listed(names, MOST_LEAKING)})" if names else ""
        yield "outputs that are a reference", f"{value_text(copies.leaked)}{whose}"


def _facts_table(title: str, facts: list[tuple[str, str]]) -> Table:
    columns = (TableColumn("fact", "fact", "left", kind="name"), TableColumn("text", "", "left"))
    return Table(title, columns, tuple({"fact": name, "text": text} for name, text in facts))


def _stated(card: MeasuredCard) -> Table:
    return _facts_table(f"{card.stated.title or card.board}: stated", [*stated_facts(card), *definitions(card)])


def definitions(card: MeasuredCard) -> list[tuple[str, str]]:
    """What each dimension means, as facts."""
    return [(f"dimension {use.name}", use.definition) for use in card.dimensions if use.definition]


def _counted(card: MeasuredCard) -> Table:
    return _facts_table(f"{card.board}: counted (version {card.version})", counted_facts(card))


def dimension_table(card: MeasuredCard) -> Table:
    """What people judged, how they used the scales and whether they agree; only what it is where that is hidden."""
    columns = (
        TableColumn("name", "dimension", "left", kind="name"),
        TableColumn("scale", "scale", "left"),
        TableColumn("definition", "definition", "left", visible=False),
        TableColumn("judgments", "judgments", priority=1),
        TableColumn("outputs", "outputs", priority=3),
        TableColumn("annotators", "annotators", priority=4, visible=any(use.annotators for use in card.dimensions)),
        TableColumn("mean", "mean", digits=2, priority=2),
        TableColumn("alpha", "alpha", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval", priority=1),
        TableColumn("units", "on", priority=3),
        TableColumn("level", "taken as", "left", priority=6),
        TableColumn("use", "use of the scale", "left", priority=5),
        TableColumn("reason", "why not", "left", visible=False),
    )
    rows = tuple(_dimension_row(use) for use in card.dimensions)
    title = f"{card.board}: what people judged"
    if "judgments" in card.hidden:
        return Table(title, columns[:3], rows)
    reasons: dict[str, list[str]] = {}
    for use in card.dimensions:
        if use.agreement.reason:
            reasons.setdefault(use.agreement.reason, []).append(use.name)
    notes = [f"No alpha for {listed(names)}: {reason}." for reason, names in reasons.items()]
    alpha_note = (
        "Alpha is Krippendorff's, on the outputs that two or more judged: 1 is full agreement, 0 what chance would "
        "give. Everybody's first judgment of an output counts."
    )
    return Table(title, columns, rows, (alpha_note, *notes))


def _dimension_row(use: ScaleUse) -> dict[str, object]:
    return {
        "name": use.name,
        "scale": use.scale,
        "definition": use.definition,
        "judgments": use.judgments,
        "outputs": use.outputs,
        "annotators": use.annotators or None,
        "mean": None if use.values is None else use.values.mean,
        "use": scale_words(use),
        "alpha": use.agreement.alpha,
        "interval": use.agreement.interval,
        "units": use.agreement.units or None,
        "level": use.agreement.level,
        "reason": use.agreement.reason,
    }


def scale_words(use: ScaleUse) -> str | None:
    """Which values were given how often; for a long scale, where its ends are."""
    if use.shares:
        return ", ".join(f"{value}: {share:.0%}" for value, share in use.shares.items())
    if use.at_lowest is not None and use.at_highest is not None:
        return f"{use.at_lowest:.0%} at the low end, {use.at_highest:.0%} at the high end"
    return None if use.values is None else f"{use.values.lowest:.2f} to {use.values.highest:.2f}"


def length_table(card: MeasuredCard) -> Table:
    """How long inputs, references and outputs are."""
    columns = (
        TableColumn("kind", "texts", "left", kind="name"),
        TableColumn("texts", "number"),
        TableColumn("empty", "empty"),
        TableColumn("words", "words: median (lowest to highest)", "left"),
        TableColumn("characters", "characters: median (lowest to highest)", "left"),
    )
    rows = tuple(
        {
            "kind": lengths.kind,
            "texts": lengths.texts,
            "empty": lengths.empty,
            "words": _spread_card_tables(lengths.words),
            "characters": _spread_card_tables(lengths.characters),
        }
        for lengths in card.lengths
        if lengths.texts and lengths.kind not in card.hidden
    )
    return Table(f"{card.board}: how long the texts are", columns, rows)


def _spread_card_tables(spread: Spread | None) -> str | None:
    return None if spread is None else f"{spread.median:g} ({spread.lowest:g} to {spread.highest:g})"


def card_markdown(card: MeasuredCard) -> str:
    """The card as a Markdown page."""
    parts = [f"# {_plain(card.stated.title or card.board)}", "", f"Data card of the board `{card.board}`.", ""]
    parts += [f"**Draft**: nobody has stated {', '.join(map(_plain, card.missing))}.", ""] if card.is_draft else []
    for heading, facts in (("Stated", stated_facts(card)), ("Counted", counted_facts(card))):
        parts += [f"## {heading}", "", *(f"- **{name}**: {_plain(text)}" for name, text in facts), ""]
    if card.dimensions:
        parts += ["## Dimensions", ""]
        for use in card.dimensions:
            parts += [f"- **{_plain(use.name)}** ({use.scale}): {_plain(use.definition or 'not defined')}"]
            parts += [f"  - {line}" for line in dimension_lines(use) if "judgments" not in card.hidden]
        parts += [""]
    table = length_table(card)
    parts += ["## Lengths", "", *_markdown_table(table), ""] if table.rows else []
    return "\n".join(parts)


def card_html(card: MeasuredCard) -> str:
    """The card as one page that loads nothing."""
    from billboards.show.page import rendered

    return rendered(
        "card.html.j2",
        title=card.stated.title or card.board,
        board=card.board,
        missing=card.missing,
        facts=[("Stated", [*stated_facts(card), *definitions(card)]), ("Counted", counted_facts(card))],
        tables=[table for table in (dimension_table(card), length_table(card)) if table.rows],
    )


def dimension_lines(use: ScaleUse) -> Iterator[str]:
    """What was measured of a dimension, line by line."""
    who = f" by {value_text(use.annotators)} annotators" if use.annotators else ""
    yield f"{value_text(use.judgments)} judgments of {value_text(use.outputs)} outputs{who}"
    if words := scale_words(use):
        yield f"use of the scale: {words}"
    agreement = use.agreement
    if agreement.alpha is None:
        yield f"agreement can't be measured: {agreement.reason}"
    else:
        interval = f" (95% interval {interval_text(agreement.interval, 2)})" if agreement.interval else ""
        units = f"on {value_text(agreement.units)} outputs judged by two or more"
        yield f"Krippendorff's alpha ({agreement.level}): {value_text(agreement.alpha, 2)}{interval}, {units}"


def _markdown_table(table: Table) -> Iterator[str]:
    heads = [column.header for column in table.visible]
    yield f"| {' | '.join(heads)} |"
    yield f"|{' --- |' * len(heads)}"
    for texts in shown(table):
        yield f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |"


def _plain(text: str) -> str:
    """A text on one line whose signs Markdown leaves alone."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))


@analysis(view=(), paper="BEAMetrics, section 3")
def card(view: View) -> MeasuredCard:
    """Print a board's data card: what its owner states, and everything about the data that can be counted.

    Facts that nobody stated are named at the end: a board that lacks some is a draft, which no site publishes.
    """
    return measure_card(view.board, hidden=view.hidden)


card.table(card_tables)


@card.notes
def _not_stated(_: View, measured: MeasuredCard) -> list[str]:
    if not measured.missing:
        return []
    return [f"not stated: {', '.join(measured.missing)}; `billboards card BOARD --template` writes what to fill in"]
