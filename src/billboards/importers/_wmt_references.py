"""WMT's references as public repositories have them, for a board whose sources are those of the same test set.

    OPUS-MT-testsets (Helsinki-NLP):              testsets/zho-eng/newstest2020.{zho,eng}, newstestB2020.eng
    wmt19-paraphrased-references (google):        wmt20/ende/wmt20-ende-wmtp.ref

A line is a segment, in the order of the board. WMT calls the translators Human-A (the file without a letter), Human-B
and so on, and the paraphrase Human-P. Beside the translations OPUS has the sources, so every line is held against the
board's: letters and digits must be the same. Quotes and other signs need not, because the board wmt20-en-de lost some
on its way through CSV.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from billboards.errors import ImportRefused
from billboards.reading import Problems, numbered_lines, read_source, refuse_errors, shown

OPUS, PARAPHRASED = "OPUS-MT-testsets", "wmt19-paraphrased-references"
#: Codes of three letters for the languages of WMT's test sets.
_LONG = {
    "bn": "ben",
    "cs": "ces",
    "de": "deu",
    "en": "eng",
    "es": "spa",
    "et": "est",
    "fi": "fin",
    "fr": "fra",
    "gu": "guj",
    "ha": "hau",
    "hi": "hin",
    "hu": "hun",
    "is": "isl",
    "it": "ita",
    "iu": "iku",
    "ja": "jpn",
    "kk": "kaz",
    "km": "khm",
    "lt": "lit",
    "lv": "lav",
    "pl": "pol",
    "ps": "pus",
    "ro": "ron",
    "ru": "rus",
    "ta": "tam",
    "tr": "tur",
    "uk": "ukr",
    "xh": "xho",
    "zh": "zho",
    "zu": "zul",
}
_OTHERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class TestSet:
    """Which of WMT's test sets a board is."""

    #: Two digits.
    year: str
    source: str
    target: str

    @classmethod
    def of_board(cls, board: str) -> TestSet | None:
        """The test set of a board such as wmt20-zh-en."""
        match = re.fullmatch(r"wmt(\d\d)-([a-z]{2,3})-([a-z]{2,3})", board)
        return None if match is None else cls(year=match[1], source=match[2], target=match[3])


def find_wmt_references(folder: Path, test_set: TestSet) -> dict[str, Path]:
    """Files of references by the translator's name, in a clone of either repository or a folder that holds clones."""
    files = dict[str, Path]()
    for root in (folder, folder / OPUS, folder / PARAPHRASED):
        for name, path in (*_opus(root, test_set), *_paraphrased(root, test_set)):
            files.setdefault(name, path)
    return dict(sorted(files.items()))


def _opus(root: Path, test_set: TestSet) -> Iterator[tuple[str, Path]]:
    source, target = (_LONG.get(code, code) for code in (test_set.source, test_set.target))
    pair = f"{source}-{target}"
    for folder in (root / "testsets" / pair, root / pair, *([root] if root.name == pair else [])):
        for path in sorted(folder.glob(f"newstest*20{test_set.year}.{target}*")):
            match = re.fullmatch(rf"newstest([A-Z]?)20{test_set.year}\.{target}(?:\.gz)?", path.name)
            if match is not None:
                yield f"Human-{match[1] or 'A'}", path


def _paraphrased(root: Path, test_set: TestSet) -> Iterator[tuple[str, Path]]:
    year, pair = f"wmt{test_set.year}", f"{test_set.source}{test_set.target}"
    for folder in (root / year / pair, root / pair, *([root] if root.name == pair else [])):
        for path in sorted(folder.glob(f"{year}-{pair}-wmtp.ref*")):
            yield "Human-P", path


def read_wmt_references(
    files: Mapping[str, Path], test_set: TestSet, inputs: Mapping[str, str]
) -> tuple[dict[str, dict[str, str]], tuple[str, ...]]:
    """The translators' texts by segment, with notes on how lines were matched to segments."""
    problems, notes = Problems(), list[str]()
    texts = dict[str, dict[str, str]]()
    checked = set[Path]()
    for name, path in files.items():
        lines = _lines(path, problems)
        if len(lines) != len(inputs):
            problems.error(str(path), None, f"has {len(lines)} lines for {len(inputs)} segments of the board")
            continue
        beside = _source_file(path, test_set)
        if beside is None:
            notes.append(f"{path.name}: has no sources beside it, so {name} was matched by the order of its lines")
        elif beside not in checked:
            checked.add(beside)
            notes += _check_sources(beside, inputs, problems)
        texts[name] = dict(zip(inputs, lines, strict=True))
    refuse_errors(problems)
    return texts, tuple(notes)


def _lines(path: Path, problems: Problems) -> list[str]:
    return [line for _, line in numbered_lines(read_source(path), str(path), problems)]


def _source_file(path: Path, test_set: TestSet) -> Path | None:
    """The sources of the same test set; those of another translator are the same."""
    source = _LONG.get(test_set.source, test_set.source)
    own = re.sub(r"\.[a-z]{2,3}(\.gz)?$", f".{source}", path.name)
    for name in (own, f"newstest20{test_set.year}.{source}") if path.name.startswith("newstest") else ():
        for candidate in (path.with_name(name), path.with_name(f"{name}.gz")):
            if candidate.is_file():
                return candidate
    return None


def _check_sources(path: Path, inputs: Mapping[str, str], problems: Problems) -> list[str]:
    lines = _lines(path, problems)
    if len(lines) != len(inputs):
        problems.error(str(path), None, f"has {len(lines)} lines for {len(inputs)} segments of the board")
        return []
    other = 0
    for number, ((segment, text), line) in enumerate(zip(inputs.items(), lines, strict=True), 1):
        if _letters(text) != _letters(line):
            problems.error(str(path), number, f"is not the source of segment {segment!r}: {shown(line)}, {shown(text)}")
        other += text != line
    if not other:
        return []
    return [f"{path.name}: {other} of {len(inputs)} sources differ from the board's in quotes or other signs alone"]


def _letters(text: str) -> str:
    return _OTHERS.sub("", text).casefold()


def refuse_nothing(folder: Path, board: str, test_set: TestSet | None) -> ImportRefused:
    """What to say of a folder in which no references of a board were found."""
    looked = [f"{board}_refs.jsonl", f"{board}_references.json", "Human-*.txt"]
    if test_set is not None:
        source, target = (_LONG.get(code, code) for code in (test_set.source, test_set.target))
        looked.append(f"testsets/{source}-{target}/newstest20{test_set.year}.{target} ({OPUS})")
        pair = f"{test_set.source}{test_set.target}"
        looked.append(f"wmt{test_set.year}/{pair}/wmt{test_set.year}-{pair}-wmtp.ref ({PARAPHRASED})")
    return ImportRefused(f"{folder}: holds no references for {board}; looked for {', '.join(looked)}")
