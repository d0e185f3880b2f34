"""Reading a board folder: what a sound one says, and how every kind of unsound one is refused."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from billboards.board import Aggregate, Dimension, Generator, Instance, Reference
from billboards.board.check import check_board
from billboards.board.folder import open_board, read_board
from billboards.board.skeleton import write_skeleton
from billboards.board.writing import write_board
from billboards.errors import InvalidBoard, InvalidInput, StoreFailed
from billboards.reading import Problems

Folder = Callable[..., Path]


def mistakes(root: Path) -> list[str]:
    """What opening complains of, in short."""
    with pytest.raises(InvalidBoard) as caught:
        open_board(root)
    return [str(problem).replace("error: ", "") for problem in caught.value.problems]


def test_a_sound_folder_is_the_board_it_describes(folder: Folder) -> None:
    board = open_board(folder())
    assert board.name == "small"
    assert board.instances[0] == Instance(
        "a", references=(Reference("A", "One."), Reference("B", "The one.")), input="Eins"
    )
    assert [row.name for row in board.rows] == ["H", "M", "#1", "#2"]
    assert board.generators == (Generator("H", kind="human"), Generator("M"))
    assert board.row("M").texts == ("A one.", "A two.", "A three.")
    assert board.row("#1").texts == ("Someone's one.", None, "Someone's three.")
    assert board.row("#2").ids == ("x2", None, None)
    assert board.dimensions == {
        "adequacy": Dimension("adequacy", range=(1.0, 5.0), definition="Is it all there?"),
        "errors": Dimension("errors", range=None, higher_is_better=False, definition="Marks of bad language."),
    }
    assert board.aggregates == {"quality": Aggregate("quality", ("adequacy", "errors"))}
    assert board.ranks == "quality"
    assert board.reference_names == board.references == ("A", "B")
    assert board.home is not None


def test_judgments_are_read_into_columns_in_their_order(folder: Folder) -> None:
    judgments = open_board(folder()).judgments
    assert judgments.dimensions == ("adequacy", "errors")
    assert judgments.instance.tolist() == [0, 1, 0, 2]
    assert judgments.row.tolist() == [1, 1, 3, 1]
    assert judgments.annotators == ("ann",)
    assert judgments.annotator.tolist() == [0, -1, -1, -1]
    assert judgments.campaign.tolist() == [0, -1, -1, -1]
    np.testing.assert_array_equal(judgments.values, [[4, 2], [2.5, 0], [1, np.nan], [np.nan, np.nan]])
    assert judgments.details == {3: {"prefers": "H", "others": (0,)}}


def test_imported_scores_are_read_with_gaps_as_nan(folder: Folder) -> None:
    (column,) = open_board(folder()).imported
    assert (column.name, column.source_name, column.references) == ("BLEU", "BLEU", ("A", "B"))
    np.testing.assert_array_equal(column.values["M"], [0.25, np.nan, 0.001])
    np.testing.assert_array_equal(column.values["#1"], [3, np.nan, 1])


def test_scores_of_which_lower_is_better_are_turned_round_and_get_another_signature(folder: Folder) -> None:
    (before,) = open_board(folder()).imported
    settings = "\n[scores.BLEU]\nhigher_is_better = false\nneeds = []\n"
    (after,) = open_board(folder({"board.toml": _toml() + settings})).imported
    np.testing.assert_array_equal(after.values["H"], [-1.5, 2, 0])
    assert not np.signbit(after.values["H"][2])
    assert after.references == ()
    assert after.signature != before.signature


def test_references_are_used_in_the_order_of_the_board(folder: Folder) -> None:
    assert open_board(folder({"board.toml": 'references = ["B", "A"]\n' + _toml()})).references_used == ("A", "B")


def test_references_without_names_are_numbered(folder: Folder) -> None:
    board = open_board(folder({"instances.jsonl": _instances('"references": ["One.", "The one."]')}))
    assert board.instances[0].references == (Reference("ref1", "One."), Reference("ref2", "The one."))


def test_only_instances_and_settings_are_needed(folder: Folder) -> None:
    root = folder({"generators/M.jsonl": None, "generators/H.jsonl": None, "outputs.jsonl": None,
                   "judgments/experts.jsonl": None, "scores/BLEU.tsv": None, "board.toml": 'name = "b"'})  # fmt: skip
    board = open_board(root)
    assert (len(board.instances), board.rows, len(board.judgments), board.imported) == (3, (), 0, ())


def test_crlf_and_a_bom_change_nothing(folder: Folder, tmp_path: Path) -> None:
    plain = open_board(folder())
    texts, judgments, scores = plain.row("M").texts, plain.judgments, plain.imported[0]
    for path in (tmp_path / "small").rglob("*.*"):
        if path.is_file():
            path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    board = open_board(tmp_path / "small")
    assert board.instances == plain.instances
    assert board.row("M").texts == texts
    np.testing.assert_array_equal(board.judgments.values, judgments.values)
    np.testing.assert_array_equal(board.imported[0].values["M"], scores.values["M"])


def test_a_board_can_be_sent_to_another_process(folder: Folder) -> None:
    board = open_board(folder())
    assert pickle.loads(pickle.dumps(board.row("M"))).texts == ("A one.", "A two.", "A three.")


def _toml() -> str:
    return Path(__file__).with_name("conftest.py").read_text(encoding="utf-8").split('"""\\\n')[1].split('"""')[0]


def _instances(extra: str) -> str:
    return f'{{"id": "a", {extra}}}\n{{"id": "b"}}\n{{"id": "c"}}\n'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": 1}', '"id" must be text in quotes; found 1'),
        ('{"input": "x"}', '"id" must be text in quotes; found None'),
        ('{"id": ""}', "\"id\" '' is empty"),
        ('{"id": "a\\tb"}', "\"id\" 'a\\tb' holds the character U+0009"),
        ('{"id": "a\\u2028b"}', "\"id\" 'a\\u2028b' holds the character U+2028"),
        ('{"id": "a"}', "instance 'a' appears twice, first on line 1"),
        ('{"id": "d", "input": 5}', '"input" must be text in quotes; found 5'),
        ('{"id": "d", "domain": ["x"]}', "\"domain\" must be text in quotes; found ['x']"),
        ('{"id": "d", "tags": "x"}', "\"tags\" must be a list of texts; found 'x'"),
        ('{"id": "d", "tags": [1]}', '"tags" must be a list of texts; found [1]'),
        ('{"id": "d", "refs": []}', "unknown key 'refs'; known: id, input, image, references, document, domain, tags"),
        ('{"id": "d", "references": "x"}', '"references" must be a list, as in'),
        ('{"id": "d", "references": [1]}', 'reference 1 must be text or {"name": "…", "text": "…"}; found 1'),
        ('{"id": "d", "references": [{"name": "A"}]}', "reference 1 must be text or"),
        ('{"id": "d", "references": [{"name": "A", "text": "x", "by": "y"}]}', "reference 1 must be text or"),
        ('{"id": "d", "references": [{"name": "", "text": "x"}]}', "reference 1 has the name '', which is empty"),
        ('{"id": "d", "references": ["x", {"name": "ref1", "text": "y"}]}', "two references are named 'ref1'"),
        ('{"id": "d", "id": "e"}', "not usable JSON: the key 'id' appears twice in one object"),
        ('{"id": "\\ud800"}', "not usable JSON: \\ud800 is half of a character"),
    ],
)
def test_a_mistake_in_an_instance_is_named_with_its_line(folder: Folder, line: str, message: str) -> None:
    instances = Path(folder() / "instances.jsonl").read_text(encoding="utf-8")
    messages = mistakes(folder({"instances.jsonl": instances + line + "\n"}))
    assert len(messages) == 1
    assert messages[0].startswith(f"instances.jsonl:4: {message}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"instance": "a", "text": "x"}', "instance 'a' appears twice, first on line 1"),
        ('{"instance": "z", "text": "x"}', "instance 'z' is not in instances.jsonl"),
        ('{"instance": 1, "text": "x"}', '"instance" must be an instance\'s id in quotes; found 1'),
        ('{"instance": "c", "text": null}', '"text" must be text in quotes; found None'),
        ('{"instance": "c", "hyp": "x", "text": "y"}', "unknown key 'hyp'; known: instance, text"),
        ('{"instance": "c", "te', "not JSON: Unterminated string starting at at column 19; the line seems cut off"),
    ],
)
def test_a_mistake_in_a_generators_file_is_named_when_its_texts_are_read(
    folder: Folder, line: str, message: str
) -> None:
    sound = '{"instance": "a", "text": "1"}\n{"instance": "b", "text": "2"}\n'
    board = open_board(folder({"generators/M.jsonl": sound + line}))
    with pytest.raises(InvalidBoard) as caught:
        _ = board.row("M").texts
    assert str(caught.value).startswith(f"generators/M.jsonl:3: {message}")


def test_an_output_that_is_missing_is_none_and_one_that_is_empty_is_not(folder: Folder) -> None:
    board = open_board(folder({"generators/M.jsonl": '{"instance": "b", "text": ""}'}))
    assert board.row("M").texts == (None, "", None)


def test_texts_that_changed_since_the_board_was_opened_are_refused(folder: Folder) -> None:
    root = folder()
    board = open_board(root)
    (root / "generators" / "M.jsonl").write_text('{"instance": "a", "text": "new"}\n', encoding="utf-8")
    with pytest.raises(StoreFailed, match="has changed since the board was opened"):
        _ = board.row("M").texts


def test_texts_that_are_gone_since_the_board_was_opened_are_named(folder: Folder) -> None:
    root = folder()
    board = open_board(root)
    (root / "generators" / "M.jsonl").unlink()
    with pytest.raises(InvalidBoard, match=r"generators/M\.jsonl: is gone since the board was opened"):
        _ = board.row("M").texts


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"instance": "b", "id": "x1", "text": "y"}', "output 'x1' appears twice; ids of outputs must differ"),
        ('{"instance": "b", "id": 7, "text": "y"}', '"id" and "text" must be texts in quotes'),
        ('{"instance": "b", "id": "a\\nb", "text": "y"}', "\"id\" 'a\\nb' holds the character U+000A"),
        ('{"instance": "z", "id": "x4", "text": "y"}', "instance 'z' is not in instances.jsonl"),
    ],
)
def test_a_mistake_in_a_loose_output_is_named_with_its_line(folder: Folder, line: str, message: str) -> None:
    outputs = (folder() / "outputs.jsonl").read_text(encoding="utf-8")
    assert mistakes(folder({"outputs.jsonl": outputs + line}))[0].startswith(f"outputs.jsonl:4: {message}")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ('"values": {"adequacy": 1}', "must say what is judged by one of generator, generators, output, outputs"),
        ('"generator": "M", "output": "x1", "values": {}', "must say what is judged by one of generator, generators,"),
        ('"generator": "X", "values": {"adequacy": 1}', "generator 'X' has no file in generators/"),
        ('"generator": ["M"], "values": {"adequacy": 1}', "\"generator\" must be a name in quotes; found ['M']"),
        ('"generator": {"M": 1}, "values": {"adequacy": 1}', '"generator" must be a name in quotes; found {'),
        ('"generators": [["M"]], "values": {}', "\"generators\" must be a list of names; found [['M']]"),
        ('"generators": "M", "values": {}', "\"generators\" must be a list of names; found 'M'"),
        ('"generators": [], "values": {}', '"generators" must be a list of names; found []'),
        ('"generators": ["M", "M"], "values": {}', "\"generators\" holds a name twice: ['M', 'M']"),
        ('"output": "x3", "values": {"adequacy": 1}', "output 'x3' is not an output of instance 'a' in outputs.jsonl"),
        ('"output": [1], "values": {}', '"output" must be a name in quotes; found [1]'),
        ('"generator": "M"', '"values" must be numbers by dimension, as in {"adequacy": 4}; found None'),
        ('"generator": "M", "values": 4', '"values" must be numbers by dimension, as in {"adequacy": 4}; found 4'),
        ('"generator": "M", "values": {"beauty": 1}', "dimension 'beauty' is not declared under [dimensions] in"),
        ('"generator": "M", "values": {"adequacy": 6}', "adequacy = 6 lies outside its range [1.0, 5.0]"),
        ('"generator": "M", "values": {"adequacy": "4"}', "'adequacy' must be a number; found '4'"),
        ('"generator": "M", "values": {"adequacy": true}', "'adequacy' must be a number; found True"),
        ('"generator": "M", "values": {"adequacy": null}', "'adequacy' must be a number; found None"),
        ('"generator": "M", "values": {"errors": 1e999}', "'errors' must be a number; found inf"),
        (f'"generator": "M", "values": {{"errors": 1{"0" * 400}}}', "'errors' must be a number; found 1000"),
        ('"generator": "M", "values": {"errors": NaN}', "not usable JSON: NaN is not a value"),
        ('"generator": "M", "values": {}, "annotator": 7', '"annotator" must be text in quotes; found 7'),
        ('"generator": "M", "values": {}, "campaign": "a\\tb"', "\"campaign\" 'a\\tb' holds the character U+0009"),
        ('"generator": "M", "values": {}, "score": 7', "unknown key 'score'; known: instance, generator, generators,"),
        ('"generator": "M", "prefers": "H"', "\"prefers\" names 'H', which is not among the outputs judged"),
        ('"generators": ["M", "H"], "prefers": ["M", "X"]', "\"prefers\" names 'X', which is not among the outputs"),
        ('"generator": "M", "spans": "x"', "\"spans\" must be a list; found 'x'"),
        ('"generator": "M", "spans": [1e999]', '"spans" must be finite numbers, texts, lists and objects, at most'),
        (
            f'"generator": "M", "spans": {"[" * 50}{"]" * 50}',
            '"spans" must be finite numbers, texts, lists and objects',
        ),
        ('"generator": "M", "values": {}, "time": true', '"time" must be a time in quotes or a number; found True'),
        ('"generator": "M", "values": {}, "test": 1', '"test" must be the kind of test question in quotes; found 1'),
    ],
)
def test_a_mistake_in_a_judgment_is_named_with_its_line(folder: Folder, item: str, message: str) -> None:
    messages = mistakes(folder({"judgments/experts.jsonl": f'\n{{"instance": "a", {item}}}\n'}))
    assert len(messages) == 1
    assert messages[0].startswith(f"judgments/experts.jsonl:2: {message}")


@pytest.mark.parametrize("wrong", ['"annotator": 7', '"campaign": ["x"]', '"values": {"adequacy": 6}', '"time": true'])
def test_a_mistake_is_named_also_after_judgments_without_one(folder: Folder, wrong: str) -> None:
    right = {"generator": '"M"', "values": '{"adequacy": 4}', "annotator": '"a1"', "campaign": '"x"'}
    key, value = wrong.split(": ", 1)
    lines = ["".join(f', "{k}": {v}' for k, v in (right | more).items()) for more in ({}, {}, {key.strip('"'): value})]
    messages = mistakes(folder({"judgments/experts.jsonl": "".join(f'{{"instance": "a"{line}}}\n' for line in lines)}))
    assert len(messages) == 1
    assert messages[0].startswith("judgments/experts.jsonl:3: ")


def test_spans_preferences_and_nothing_are_judgments_too(folder: Folder) -> None:
    lines = """\
{"instance": "a", "generator": "M", "spans": [{"start": 0, "end": 3, "severity": "minor"}], "time": 12.5}
{"instance": "a", "generators": ["M", "H"], "prefers": ["M", "H"], "test": "positive", "template": "v2"}
{"instance": "a", "generator": "M", "values": {}}
"""
    judgments = open_board(folder({"judgments/experts.jsonl": lines})).judgments
    assert len(judgments) == 3
    assert judgments.details[0] == {"spans": [{"start": 0, "end": 3, "severity": "minor"}], "time": 12.5}
    assert judgments.details[1] == {"prefers": ["M", "H"], "test": "positive", "template": "v2", "others": (0,)}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("", 'scores/BLEU.tsv:1: the first line must read "instance"'),
        ("M\tH\n", 'scores/BLEU.tsv:1: the first line must read "instance"'),
        ("instance\tM\tX\n", "scores/BLEU.tsv:1: column 'X' is no generator of this board"),
        ("instance\tM\tM\n", "scores/BLEU.tsv:1: generator 'M' stands in two columns"),
        ("instance\tM\na\t1\na\t2\n", "scores/BLEU.tsv:3: instance 'a' appears twice, first on line 2"),
        ("instance\tM\nz\t1\n", "scores/BLEU.tsv:2: instance 'z' is not in instances.jsonl"),
        ("instance\tM\tH\na\t1\n", "scores/BLEU.tsv:2: 2 columns where the first line has 3"),
        ("instance\tM\na\tnan\n", "scores/BLEU.tsv:2: 'nan' is not a score; leave the cell empty"),
        ("instance\tM\na\t1e999\n", "scores/BLEU.tsv:2: '1e999' is not a score"),
        ("instance\tM\na\t1_000\n", "scores/BLEU.tsv:2: '1_000' is not a score"),
        ("instance\tM\na\t1,5\n", "scores/BLEU.tsv:2: '1,5' is not a score"),
        ("instance\tM\na\t١\n", "scores/BLEU.tsv:2: '١' is not a score"),
    ],
)
def test_a_mistake_in_a_table_of_scores_is_named_with_its_line(folder: Folder, table: str, message: str) -> None:
    messages = mistakes(folder({"scores/BLEU.tsv": table}))
    assert len(messages) == 1
    assert messages[0].startswith(message)


def test_a_generator_may_be_called_instance(folder: Folder) -> None:
    root = folder({"generators/instance.jsonl": "", "scores/BLEU.tsv": "instance\tinstance\na\t1\n"})
    np.testing.assert_array_equal(open_board(root).imported[0].values["instance"], [1, np.nan, np.nan])


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ("[generators.X]\n", "board.toml:21: [generators.X] has no file generators/X.jsonl"),
        ("[scores.X]\n", "board.toml:21: [scores.X] has no file scores/X.tsv"),
        ("[scores.BLEU]\nreferences = ['C']\n", "board.toml:22: scores.BLEU.references names reference 'C', which no"),
    ],
)
def test_a_setting_for_what_is_not_there_is_named_with_its_line(folder: Folder, extra: str, message: str) -> None:
    assert mistakes(folder({"board.toml": _toml() + extra}))[0].startswith(message)


def test_two_files_for_one_generator_are_refused(folder: Folder) -> None:
    assert mistakes(folder({"generators/ab.jsonl": "", "generators/a%62.jsonl": ""})) == [
        "generators/ab.jsonl: stands for 'ab', as a%62.jsonl does; keep one of the two"
    ]


def test_a_file_whose_name_is_no_name_is_refused(folder: Folder) -> None:
    files = {"generators/a%09b.jsonl": "", "scores/a%0A.tsv": "instance\n", "generators/#2.jsonl": ""}
    messages = mistakes(folder(files))
    assert [problem.split(";")[0] for problem in messages] == [
        "generators/#2.jsonl: the name '#2' is taken: #1, #2, … are the rows of outputs that belong to no generator",
        "generators/a%09b.jsonl: the name 'a\\tb' holds the character U+0009",
        "scores/a%0A.tsv: the name 'a\\n' holds the character U+000A",
    ]


def test_every_mistake_of_every_file_is_found_in_one_pass(folder: Folder) -> None:
    messages = mistakes(
        folder(
            {
                "board.toml": _toml() + "colour = 1\n",
                "instances.jsonl": _instances('"tags": 1'),
                "judgments/experts.jsonl": '{"instance": "a"}\n{"instance": "b", "generator": "Y", "values": {}}\n',
                "scores/BLEU.tsv": "x\n",
                "outputs.jsonl": "[]",
            }
        )
    )
    assert [problem.split(": ")[0] for problem in messages] == [
        "board.toml:21",
        "instances.jsonl:1",
        "outputs.jsonl:1",
        "judgments/experts.jsonl:1",
        "judgments/experts.jsonl:1",
        "judgments/experts.jsonl:2",
        "scores/BLEU.tsv:1",
    ]


def test_settings_that_can_not_be_read_bring_no_complaints_about_what_relies_on_them(folder: Folder) -> None:
    assert [problem.split(" (")[0] for problem in mistakes(folder({"board.toml": "name = ]\n"}))] == [
        "board.toml:1: not TOML: Invalid value"
    ]


def test_instances_that_can_not_be_read_bring_no_complaints_about_what_relies_on_them(folder: Folder) -> None:
    assert mistakes(folder({"instances.jsonl": None})) == [
        'instances.jsonl: is missing; write one JSON object per line, as in {"id": "1", "input": "…"}'
    ]
    assert len(mistakes(folder({"instances.jsonl": "\n\n"}))) == 1


@pytest.mark.parametrize("file", ["instances.jsonl", "generators/M.jsonl"])
def test_a_binary_file_is_one_mistake(folder: Folder, file: str) -> None:
    home = folder({})
    (home / file).write_bytes(b"\x89PNG\r\n" + bytes(range(256)) * 200)
    errors = [problem for problem in check_board(home) if problem.severity == "error"]
    assert [str(problem) for problem in errors] == [f"{file}: error: is not a text file; was another one meant?"]


def test_many_mistakes_of_one_file_are_capped_and_counted(folder: Folder) -> None:
    messages = mistakes(folder({"instances.jsonl": '{"id": 1}\n' * 1000}))
    assert len(messages) == 101
    assert messages[-1] == "instances.jsonl: and 900 more mistakes in this file; mend those listed and check again"


def test_a_judgment_is_left_out_also_when_its_mistake_is_no_longer_listed(folder: Folder) -> None:
    wrong = '{"instance": "a", "generator": "M", "values": {"adequacy": 9}}\n'
    problems = Problems(limit=3)
    board = read_board(folder({"judgments/experts.jsonl": wrong * 10}), problems)
    assert len(board.judgments) == 0
    assert problems.errors_in("judgments/experts.jsonl") == 10


@pytest.mark.parametrize(
    "name",
    [
        "board.toml",
        "instances.jsonl",
        "outputs.jsonl",
        "generators/M.jsonl",
        "judgments/experts.jsonl",
        "scores/BLEU.tsv",
    ],
)
@pytest.mark.parametrize("what", ["folder", "loop", "dangling", "pipe"])
def test_what_is_no_file_where_a_file_is_expected_is_named(folder: Folder, name: str, what: str) -> None:
    root = folder({name: None})
    path = root / name
    path.parent.mkdir(exist_ok=True)
    _put(path, what)
    assert mistakes(root) == [f"{name}: can't be read: it must be a file"]


@pytest.mark.parametrize("name", ["generators", "judgments", "scores"])
@pytest.mark.parametrize("what", ["file", "loop", "dangling"])
def test_what_is_no_folder_where_a_folder_is_expected_is_named(folder: Folder, name: str, what: str) -> None:
    files = {"generators": ("M.jsonl", "H.jsonl"), "judgments": ("experts.jsonl",), "scores": ("BLEU.tsv",)}
    root = folder({f"{name}/{file}": None for file in files[name]})
    _put(root / name, what)
    (messages,) = mistakes(root)
    assert messages.startswith(f"{name}: can't be read: ")


def _put(path: Path, what: str) -> None:
    """Something at a path that is not what is expected there."""
    if what == "folder":
        path.mkdir()
    elif what == "file":
        path.write_text("", encoding="utf-8")
    elif what == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path.name if what == "loop" else "nowhere")


def test_a_file_name_that_is_not_utf_8_is_named_in_printable_characters(folder: Folder) -> None:
    root = folder()
    try:
        (root / "generators" / os.fsdecode(b"\xff.jsonl")).write_text("", encoding="utf-8")
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    (messages,) = mistakes(root)
    assert messages == "generators: the file name '\\udcff.jsonl' is not UTF-8; rename the file"
    messages.encode()


def test_hidden_files_are_not_the_boards(folder: Folder) -> None:
    board = open_board(folder({"generators/._M.jsonl": b"\xff\xfe", "judgments/.x.jsonl": b"\0"}))
    assert [g.name for g in board.generators] == ["H", "M"]


@pytest.mark.parametrize("path", ["nowhere", "file", "loop", "x" * 5000, "nul\0nul"])
def test_a_path_that_is_no_folder_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InvalidInput):
        open_board(tmp_path / path)


def test_a_folder_without_board_toml_is_no_board(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"not a board folder, it has no board\.toml; `billboards new DIR` writes"):
        open_board(tmp_path)


def test_a_huge_line_is_read_and_a_huge_mistake_is_told_in_a_line(folder: Folder) -> None:
    text = "x" * 5_000_000
    board = open_board(folder({"generators/M.jsonl": f'{{"instance": "a", "text": "{text}"}}'}))
    assert board.row("M").texts[0] == text
    (messages,) = mistakes(folder({"generators/M.jsonl": "", "outputs.jsonl": f'{{"instance": "{text}"}}'}))[:1]
    assert len(messages) < 300


@pytest.mark.parametrize("name", ["board.toml", "instances.jsonl", "judgments/experts.jsonl", "scores/BLEU.tsv"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"\xff\xfe{\0}\0",
        b"\xef\xbb\xbf",
        b"\r\r\r",
        b"{" * 10_000,
        b'{"a":' * 10_000,
        b"[" * 10_000,
        b"\xff" * 1000,
        b"\t\n" * 1000,
        b'{"id": {"id": {"id": []}}}',
        b'{"instance": {}, "generator": {}, "values": [], "generators": {}}',
        b"a = 1\n[b]\n[[c]]\nd.e.f = {}",
        b"dimensions = 1\naggregates = [1]\ngenerators = 'x'\nscores = {x = 1}\ncard = [[]]",
    ],
    ids=lambda content: repr(content[:12]),
)
def test_whatever_a_file_holds_only_our_own_errors_come_out(folder: Folder, name: str, content: bytes) -> None:
    problems = Problems(limit=5)
    try:
        board = read_board(folder({name: content}), problems)
    except InvalidInput:
        return
    assert problems or board.name


def test_a_board_has_its_rows_in_the_order_that_is_stated(tmp_path: Path) -> None:
    root = write_skeleton(tmp_path / "mine", "mine")
    text = (root / "board.toml").read_text(encoding="utf-8")
    stated = 'order = ["example-machine"]'
    (root / "board.toml").write_text(f"{stated}\n{text}", encoding="utf-8")
    board = open_board(root)
    assert [row.name for row in board.rows] == ["example-machine", "example-human"]
    again = open_board(write_board(board, tmp_path / "again", in_order=True))
    assert [row.name for row in again.rows] == ["example-machine", "example-human"]
    (root / "board.toml").write_text(f'order = ["nobody"]\n{text}', encoding="utf-8")
    with pytest.raises(InvalidBoard, match=r"board\.toml:1: order names 'nobody', which is no row of this board"):
        open_board(root)


def test_a_folder_that_is_not_there_is_answered_with_those_beside_it_that_may_be_meant(tmp_path: Path) -> None:
    for name in ("boards", "boarde", "other"):
        write_skeleton(tmp_path / name, name)
    (tmp_path / "boardx").mkdir()
    with pytest.raises(InvalidInput) as caught:
        open_board(tmp_path / "board")
    meant = {f"did you mean {tmp_path / a}, {tmp_path / b}? " for a, b in (("boards", "boarde"), ("boarde", "boards"))}
    assert any(words in str(caught.value) for words in meant)
    assert str(caught.value).endswith(f"`billboards new {tmp_path / 'board'}` writes a skeleton")
