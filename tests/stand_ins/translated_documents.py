"""A board of two short documents, translated from German by two generators that make mistakes of every kind."""

from __future__ import annotations

from billboards.board import Board, Generator, Instance, Reference, row_of

#: Source, reference, and what the first generator made of it.
HARBOUR: tuple[tuple[str, str, str], ...] = (
    (
        "Der Hafen war am Morgen still.",
        "The harbour was quiet in the morning.",
        "The harbour was still at morning.",
    ),
    (
        "Die Fähre fährt heute nicht.",
        "The ferry does not run today.",
        "The ferry leaves today.",
    ),
    (
        "„Das Meer ist zu rau“, sagte der Kapitän.",
        "“The sea is too rough,” said the captain.",
        "“The sea is too rough”, said the chapter.",
    ),
    (
        "Er trank seinen Kaffee und wartete.",
        "He drank his coffee and waited.",
        "He drank his coffee and waited.",
    ),
    (
        "Um 8.30 Uhr kamen die ersten Gäste.",
        "The first guests arrived at 8:30 a.m.",
        "At 8.30 clock came the first guests.",
    ),
    (
        "Niemand wollte die Karten zurückgeben.",
        "Nobody wanted to return the tickets.",
        "Nobody wanted to give the cards back .",
    ),
    (
        "Eine Frau fragte nach dem Zug nach Bremen.",
        "A woman asked about the train to Bremen.",
        "A woman asked for the train.",
    ),
    (
        "Es gab keinen.",
        "There was none.",
        "There was no one.",
    ),
    (
        "Also setzten sich alle auf die Bänke am Kai 🚢.",
        "So everybody sat down on the benches on the quay 🚢.",
        "So all sat down on the banks at the quay 🚢.",
    ),
    (
        "Der Wind ließ gegen Mittag nach.",
        "The wind dropped towards noon.",
        "The wind let after against noon.",
    ),
    (
        "Um zwei legte die Fähre doch noch ab.",
        "At two the ferry did leave after all.",
        "At two the ferry put off nevertheless.",
    ),
    (
        "Die Insel lag in der Sonne.",
        "The island lay in the sun.",
        "The island lay in the sun.",
    ),
)
LANTERN: tuple[tuple[str, str, str], ...] = (
    (
        "Die Laterne brennt seit hundert Jahren.",
        "The lantern has been burning for a hundred years.",
        "The lantern burns since hundred years.",
    ),
    (
        "Jeden Abend zündet sie jemand an.",
        "Every evening somebody lights it.",
        "Every evening someone lights her.",
    ),
    (
        "Wer es ist, weiß keiner.",
        "Nobody knows who it is.",
        "Lorem ipsum dolor sit amet.",
    ),
)


DOCUMENTS = {"harbour": ("fiction", HARBOUR), "lantern": ("news", LANTERN)}


def document_board(name: str = "harbour", documents: tuple[str, ...] = ("harbour", "lantern")) -> Board:
    """Twelve segments of one document and three of another, by the generators `word` and `plain` and by a person."""
    instances, words, plain = [], [], []
    for document in documents:
        domain, segments = DOCUMENTS[document]
        for k, (source, reference, made) in enumerate(segments, 1):
            instances.append(
                Instance(
                    f"{document}::{k}",
                    references=(Reference("Ada", reference),),
                    input=source,
                    document=document,
                    domain=domain,
                )
            )
            words.append(made)
            plain.append(reference.replace("the", "a"))
    tested = tuple(instances)
    rows = [row_of(Generator("word"), tested, tuple(words)), row_of(Generator("plain"), tested, tuple(plain))]
    rows.append(row_of(Generator("Ada", kind="human"), tested, tuple(one.references[0].text for one in tested)))
    return Board(
        name=name,
        instances=tested,
        rows=tuple(rows),
        ranks=None,
        metrics=("chrF", "length"),
        input_language="de",
        output_language="en",
    )
