"""`check_board`: every mistake in one pass, and a word on everything that is often wrong by accident."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import billboards as bb
from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.board.check import check_board
from billboards.board.check_texts import token_mark
from billboards.board.folder import open_board
from billboards.board.judgments import JudgmentColumns
from billboards.board.writing import write_board

Folder = Callable[..., Path]


def messages(root: Path) -> list[str]:
    return [str(problem) for problem in check_board(root)]


def doubts(root: Path, path: str) -> list[str]:
    """The warnings about one file, without the words every one of them has."""
    problems = [problem for problem in check_board(root) if problem.path == path]
    assert all(problem.severity == "warning" for problem in problems)
    return [str(problem).replace(f"{path}:", "", 1).replace(" warning: ", "") for problem in problems]


def texts(*lines: str, ids: str = "abcdefghijklmnopqrstuvwxyz") -> str:
    items = (json.dumps({"instance": key, "text": text}) for key, text in zip(ids, lines, strict=False))
    return "".join(f"{item}\n" for item in items)


def test_a_sound_board_is_doubted_only_where_scores_are_absent(folder: Folder) -> None:
    assert messages(folder()) == [
        "scores/BLEU.tsv:1: warning: 2 scores are absent, first 1 of 'M'; those outputs are left out",
    ]


def test_mistakes_in_generators_are_found_without_asking_for_their_texts(folder: Folder) -> None:
    root = folder({"generators/M.jsonl": "{}\n", "generators/H.jsonl": '{"instance": "z", "text": "x"}\n'})
    assert open_board(root).name == "small"
    assert [line for line in messages(root) if "error" in line] == [
        "generators/H.jsonl:1: error: instance 'z' is not in instances.jsonl",
        'generators/M.jsonl:1: error: "instance" must be an instance\'s id in quotes; found None',
        'generators/M.jsonl:1: error: "text" must be text in quotes; found None',
    ]


def test_mistakes_come_before_doubts_and_a_file_with_mistakes_is_not_doubted(folder: Folder) -> None:
    root = folder({"generators/M.jsonl": texts("x , y .", "x , y .") + "{}\n", "generators/H.jsonl": texts("x", "")})
    problems = check_board(root)
    severities = [problem.severity for problem in problems]
    assert severities == sorted(severities)
    assert {problem.severity for problem in problems if problem.path == "generators/M.jsonl"} == {"error"}
    assert any(problem.path == "generators/H.jsonl" for problem in problems)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("It is , however , true .", " , "),
        ("The end .", " . "),
        ("I do n't know", " n't "),
        ("the dog 's tail", " 's "),
        ("a -LRB- b -RRB- c", "-LRB-"),
        ("new @-@ born", "@-@"),
        ("un@@ known", "@@ "),
        ("\u2581The \u2581end", "\u2581"),
        ("我 爱 你", "我 爱"),
    ],
)
def test_signs_of_tokenisation_are_known(text: str, mark: str) -> None:
    assert token_mark(text) == mark


@pytest.mark.parametrize(
    "text", ["It's fine, really.", "Pages 3 - 5 ...", "Vraiment ?", "I .. er", "我爱你。 他也是", ""]
)
def test_ordinary_text_has_no_sign_of_tokenisation(text: str) -> None:
    assert token_mark(text) is None


def test_tokenised_outputs_are_counted_against_the_references(folder: Folder) -> None:
    assert doubts(folder({"generators/M.jsonl": texts("One .", "A two.", "Thr@@ ee.")}), "generators/M.jsonl") == [
        "1:2 of 3 outputs look tokenised (0% of the references do), the first by ' . '; "
        "detokenise them, metrics expect running text"
    ]


def test_outputs_as_tokenised_as_the_references_are_not_doubted_but_the_references_are(folder: Folder) -> None:
    instances = "".join(json.dumps({"id": k, "references": [f"{k.upper()} , it is ."]}) + "\n" for k in "abc")
    root = folder({"instances.jsonl": instances, "generators/M.jsonl": texts("A one .", "A two .", "A three .")})
    assert doubts(root, "generators/M.jsonl") == []
    assert doubts(root, "instances.jsonl") == [
        "1:3 of 3 references look tokenised, the first by ' , '; detokenise them, metrics expect running text"
    ]


def test_lowercased_outputs_are_told_where_references_have_capitals(folder: Folder) -> None:
    assert doubts(folder({"generators/M.jsonl": texts("a one.", "a two.", "3")}), "generators/M.jsonl") == [
        "1:2 of 3 outputs have no capital letter (100% of the references have one); restore the case, metrics expect it"
    ]


@pytest.mark.parametrize(
    "references", [("one.", "two.", "three."), ("一。", "二。", "三。"), ("One.", "two.", "three.")]
)
def test_lowercased_outputs_are_not_told_where_references_have_few_capitals(
    folder: Folder, references: tuple[str, ...]
) -> None:
    given = zip("abc", references, strict=True)
    instances = "".join(json.dumps({"id": key, "references": [text]}) + "\n" for key, text in given)
    root = folder({"instances.jsonl": instances, "generators/M.jsonl": texts("a one.", "a two.", "a three.")})
    assert not any("capital" in line for line in doubts(root, "generators/M.jsonl"))


def test_without_references_ordinary_text_is_expected(folder: Folder) -> None:
    instances = "".join(json.dumps({"id": k, "input": k}) + "\n" for k in "abc")
    changed = {"instances.jsonl": instances, "generators/M.jsonl": texts("a one .", "a two .", "b three ."),
               "scores/BLEU.tsv": None}  # fmt: skip
    assert doubts(folder(changed), "generators/M.jsonl") == [
        "1:3 of 3 outputs look tokenised, the first by ' . '; detokenise them, metrics expect running text",
        "1:3 of 3 outputs have no capital letter; restore the case, metrics expect it",
    ]


def test_empty_outputs_are_counted(folder: Folder) -> None:
    assert doubts(folder({"generators/M.jsonl": texts("A one.", " ", "")}), "generators/M.jsonl") == [
        "2:2 of 3 outputs are empty; leave the line out where there is no output"
    ]


def test_a_generator_that_does_not_cover_the_board_is_told_with_the_first_gap(folder: Folder) -> None:
    assert doubts(folder({"generators/M.jsonl": texts("A one.", ids="b")}), "generators/M.jsonl") == [
        "outputs for 1 of 3 instances, first missing 'a'; generators are ranked only where they cover the board"
    ]


def test_outputs_repeated_over_instances_are_told(folder: Folder) -> None:
    assert doubts(folder({"generators/M.jsonl": texts("A one.", "A one.", "A one.")}), "generators/M.jsonl") == [
        "2:2 of 3 outputs are the text of another instance too (the first repeats line 1: 'A one.'); "
        "look whether each stands with its own instance"
    ]


def test_outputs_repeated_over_equal_inputs_are_not_told(folder: Folder) -> None:
    instances = "".join(json.dumps({"id": k, "input": "same", "references": [f"R {k}"]}) + "\n" for k in "abc")
    root = folder({"instances.jsonl": instances, "generators/M.jsonl": texts("A one.", "A one.", "A one.")})
    assert doubts(root, "generators/M.jsonl") == []


def test_outputs_that_repeat_as_often_as_the_references_are_not_told(folder: Folder) -> None:
    instances = "".join(json.dumps({"id": k, "input": k, "references": ["Yes."]}) + "\n" for k in "abc")
    root = folder({"instances.jsonl": instances, "generators/M.jsonl": texts("A one.", "A one.", "A one.")})
    assert doubts(root, "generators/M.jsonl") == []


def test_a_single_output_that_equals_a_reference_is_chance(folder: Folder) -> None:
    assert doubts(folder({"generators/M.jsonl": texts("One.", "A two.", "A three.")}), "generators/M.jsonl") == []


def test_a_machine_that_wrote_the_references_is_told_with_the_count(folder: Folder) -> None:
    assert doubts(folder({"generators/M.jsonl": texts("One.", "Two.", "A three.")}), "generators/M.jsonl") == [
        "1:2 of 3 outputs equal reference 'A'; take them out, or declare the generator as "
        'kind = "human" if a person wrote them'
    ]


def test_a_person_who_is_a_reference_is_mentioned(folder: Folder) -> None:
    assert doubts(folder({"generators/H.jsonl": texts("One.", "Two.", "Three.")}), "generators/H.jsonl") == [
        "1:3 of 3 outputs equal reference 'A': it takes no part where that reference is used, "
        "which is right if the two are one text"
    ]


def test_a_person_called_like_a_reference_who_wrote_something_else_is_mentioned(folder: Folder) -> None:
    toml = 'name = "s"\n[generators.A]\nkind = "human"\n[dimensions.adequacy]\n[dimensions.errors]\n'
    root = folder({"board.toml": toml, "generators/A.jsonl": texts("One.", "Deux.", "Trois.")})
    assert doubts(root, "generators/A.jsonl") == [
        "1:1 of 3 outputs equal reference 'A' of its own name; it counts as that reference all the same, "
        "so rename one if they differ"
    ]


def test_two_generators_with_the_same_outputs_are_told(folder: Folder) -> None:
    same = {"generators/N.jsonl": texts("A one.", "A two.", "A three.").replace(": ", ":")}
    assert doubts(folder(same), "generators/N.jsonl") == [
        "1:all 3 outputs equal those in generators/M.jsonl; keep one of the two"
    ]


def test_a_person_counted_as_a_machine_is_told(folder: Folder) -> None:
    root = folder({"generators/Human-C.jsonl": texts("I one.", "I two.", "I three.")})
    assert doubts(root, "generators/Human-C.jsonl") == [
        'counts as a machine; write kind = "human" under [generators.Human-C] if a person wrote it'
    ]


def test_generators_that_some_computers_take_for_one_file_are_told(folder: Folder) -> None:
    root = folder({"generators/m.jsonl": texts("My one.", "My two.", "My three.")})
    if len(list((root / "generators").iterdir())) == 2:
        pytest.skip("this file system takes M.jsonl and m.jsonl for one")
    assert doubts(root, "generators/m.jsonl") == [
        "differs from M.jsonl only in case or accents, which many computers take for one file; rename one"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\x07b", "hold control characters; remove them"),
        ("a\ufffdb", "hold the replacement character U+FFFD; decode the text again from its source"),
        ("\ufeffa", "hold an invisible byte order mark U+FEFF; remove it"),
        ("cafÃ©", "hold UTF-8 that was read as Latin-1, as in “Ã©”; decode the text again from its source"),
        ("itâ€™s", "hold UTF-8 that was read as Latin-1, as in “Ã©”; decode the text again from its source"),
        ("R&amp;D &#39;x&#39;", "hold HTML escapes, as in “&amp;”; unescape them"),
    ],
)
def test_odd_characters_are_told_wherever_they_stand(folder: Folder, text: str, message: str) -> None:
    inputs = {"a": text, "b": "b", "c": "c"}
    instances = "".join(json.dumps({"id": k, "input": i, "references": [k]}) + "\n" for k, i in inputs.items())
    root = folder({"instances.jsonl": instances, "generators/M.jsonl": texts("A one.", f"A {text}", "A three.")})
    assert f"2:1 of 3 outputs {message}" in doubts(root, "generators/M.jsonl")
    assert f"1:1 of 3 inputs {message}" in doubts(root, "instances.jsonl")


def test_ordinary_accents_and_breaks_are_not_odd(folder: Folder) -> None:
    root = folder({"generators/M.jsonl": texts("São Tomé, Â propos\n\tetc.", "A\r\ntwo &c", "A 😀 three\u2028")})
    assert doubts(root, "generators/M.jsonl") == []


def test_loose_outputs_are_checked_too(folder: Folder) -> None:
    lines = [{"instance": "a", "id": "x1", "text": "one ."}, {"instance": "a", "id": "x2", "text": ""},
             {"instance": "c", "id": "x3", "text": "two ."}]  # fmt: skip
    root = folder({"outputs.jsonl": "".join(json.dumps(line) + "\n" for line in lines)})
    assert [line[:32] for line in doubts(root, "outputs.jsonl")] == [
        "2:1 of 3 outputs are empty; leav",
        "1:2 of 3 outputs look tokenised ",
        "1:2 of 3 outputs have no capital",
    ]


def test_judgments_of_outputs_that_are_not_there_are_told_with_the_first(folder: Folder) -> None:
    root = folder({"generators/M.jsonl": texts("A one.")})
    assert doubts(root, "judgments/experts.jsonl") == [
        "2:2 of 5 judgments are of outputs that are not there, first generator 'M' on instance 'b'; "
        "add the outputs or take the judgments out"
    ]


def test_judgments_that_say_nothing_are_told(folder: Folder) -> None:
    lines = '{"instance": "b", "generator": "M", "values": {}, "annotator": "ann"}\n' * 2
    lines += '{"instance": "a", "generator": "M", "spans": [], "values": {"errors": 1, "adequacy": 2}}\n'
    lines += '{"instance": "c", "generator": "M", "spans": []}\n'
    assert doubts(folder({"judgments/experts.jsonl": lines}), "judgments") == [
        "2 of 4 judgments say nothing, first one on instance 'b' in row 'M'; take them out"
    ]


def test_what_the_settings_promise_and_nothing_keeps_is_told_with_its_line(folder: Folder) -> None:
    toml = """\
name = "b"
[dimensions.adequacy]
[dimensions.errors]
[dimensions.beauty]
[aggregates.x]
dimensions = ["adequacy"]
campaigns = ["experts", "crowd"]
[card]
title = "b"
"""
    assert doubts(folder({"board.toml": toml, "generators/H.jsonl": texts("One", "Two", "Three")}), "board.toml") == [
        'ranks is not set, so nothing says which judgments rank metrics; write ranks = "…"',
        "the language of the outputs is not stated, and tokenisation depends on it; "
        'write output = "…" under [languages]',
        "8:the data card lacks facts that readers need to trust the board; write task, source, licence, citation, "
        "protocol, annotators under [card]; definition under [dimensions.adequacy]; definition under "
        "[dimensions.errors]; definition under [dimensions.beauty]",
        "4:no judgment speaks of dimension 'beauty'; add judgments or take it out",
        "7:aggregate x names campaign 'crowd', which has no judgment; there are: experts",
    ]


def test_instances_that_lack_what_others_have_are_told(folder: Folder) -> None:
    instances = """\
{"id": "a", "input": "1", "references": [{"name": "A", "text": "One."}, {"name": "B", "text": "The one."}]}
{"id": "b", "references": [{"name": "A", "text": "Two."}]}
{"id": "c", "input": "3"}
"""
    assert doubts(folder({"instances.jsonl": instances}), "instances.jsonl") == [
        "3:1 of 3 instances have no reference 'A', first 'c'; metrics see fewer references there",
        "2:2 of 3 instances have no reference 'B', first 'b'; metrics see fewer references there",
        "3:1 of 3 instances have no reference at all, first 'c'; reference-based metrics can't score them",
        "2:1 of 3 instances have neither input nor image, first 'b'; metrics that need the input can't score them",
    ]


def test_an_instance_that_stands_twice_under_two_ids_is_told(folder: Folder) -> None:
    instances = "".join(json.dumps({"id": k, "input": "1", "references": ["One."]}) + "\n" for k in "abc")
    assert doubts(folder({"instances.jsonl": instances}), "instances.jsonl") == [
        "2:2 of 3 instances repeat another one's input and references, first 'b', which repeats 'a'; "
        "each counts for itself"
    ]


def test_generators_without_scores_are_told_once_for_all_tables(folder: Folder) -> None:
    root = folder({"scores/BLEU.tsv": _column("H"), "scores/TER.tsv": _column("H")})
    assert [line for line in messages(root) if line.startswith("scores/")] == [
        "scores/BLEU.tsv:1: warning: no column for 1 of 2 generators, first 'M', nor in 1 more tables; "
        "they have no such score"
    ]


def test_a_reference_needs_no_scores_against_itself(folder: Folder) -> None:
    root = folder({"generators/H.jsonl": texts("One.", "Two.", "Three."), "scores/BLEU.tsv": _column("M")})
    assert doubts(root, "scores/BLEU.tsv") == []
    root = folder({"generators/M.jsonl": texts("I.", "II.", "III."), "scores/BLEU.tsv": _column("H")})
    assert doubts(root, "scores/BLEU.tsv") == ["1:no column for 1 of 2 generators, first 'M'; they have no such score"]


def _column(name: str) -> str:
    return f"instance\t{name}\na\t1\nb\t1\nc\t1\n"


def test_scores_that_may_be_cut_off_are_told(folder: Folder) -> None:
    root = folder({"scores/BLEU.tsv": "instance\tM\tH\t#1\t#2\na\t1\t1\t1\t1\nb\t1\t1\t1\t1\nc\t1\t1\t1\t1"})
    assert doubts(root, "scores/BLEU.tsv") == ["4:the last line has no line end; look whether the file is cut off"]


def test_two_columns_of_one_metric_are_told(folder: Folder) -> None:
    toml = 'name = "b"\n[dimensions.adequacy]\n[dimensions.errors]\n[scores.sent]\nname = "BLEU"\n'
    root = folder({"board.toml": toml, "scores/sent.tsv": "instance\tM\na\t1\nb\t1\nc\t1\n"})
    assert doubts(root, "scores") == ["sent and BLEU are both BLEU against the same references; rename one"]


def test_files_that_nothing_reads_are_told(folder: Folder) -> None:
    root = folder(
        {"judgements/a.jsonl": "", "generators/N.json": "", "scores/x.csv": "", "README.md": "", "paper.pdf": ""}
    )
    assert [line for line in messages(root) if "is not read" in line] == [
        "judgements: warning: is not read; did you mean judgments?",
        "generators/N.json: warning: is not read; files here end in .jsonl",
        "scores/x.csv: warning: is not read; files here end in .tsv",
    ]


def test_a_board_without_outputs_is_told(folder: Folder) -> None:
    parts = ("generators/M.jsonl", "generators/H.jsonl", "outputs.jsonl", "scores/BLEU.tsv", "judgments/experts.jsonl")
    root = folder({**dict.fromkeys(parts), "board.toml": 'name = "b"'})
    assert "generators: warning: there are no outputs yet; add generators/NAME.jsonl" in messages(root)


def test_broken_settings_are_one_mistake_and_the_texts_are_still_checked(folder: Folder) -> None:
    root = folder({"board.toml": "name = ]", "generators/M.jsonl": texts("a .", "b .", "c .")})
    problems = check_board(root)
    assert [problem.path for problem in problems if problem.severity == "error"] == ["board.toml"]
    assert any("tokenised" in problem.message for problem in problems)


PARTS = (
    "instances.jsonl",
    "outputs.jsonl",
    "generators/M.jsonl",
    "judgments/experts.jsonl",
    "scores/BLEU.tsv",
    "board.toml",
)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize(
    "content", [b"", b"\0", b"{" * 2000, b"\xff\xfe", b'{"instance": "b", "generators": 5, "id": [1]}', None]
)
def test_check_survives_whatever_a_file_holds(folder: Folder, name: str, content: bytes | None) -> None:
    gaps = {"generators/H.jsonl": texts("Only one.")}
    root = folder({**gaps, name: content if content is not None else b""})
    if content is None:
        (root / name).unlink()
        (root / name).mkdir()
    assert check_board(root)


@pytest.mark.study
@pytest.mark.data
def test_the_released_outputs_are_checked_against_their_references(shared_data: Path, tmp_path: Path) -> None:
    """wmt20-zh-en: a byte order mark, two HTML escapes, nothing tokenised; three systems are one another's, mostly."""
    root = write_board(_zh_en(shared_data), tmp_path / "zh-en")
    problems = [problem for problem in check_board(root) if problem.path.startswith("generators/")]
    assert [(problem.path, problem.line, problem.message.rsplit(";", 1)[0]) for problem in problems] == [
        ("generators/DiDi_NLP.401.jsonl", 1, "1,136 of 1,998 outputs are another row's, or nearly (Online-B.1605)"),
        ("generators/DiDi_NLP.401.jsonl", 1, "1,290 of 1,998 outputs are another row's, or nearly (SJTU-NICT.320)"),
        ("generators/Huawei_TSC.889.jsonl", 1, "1 of 2000 outputs hold an invisible byte order mark U+FEFF"),
        ("generators/Online-B.1605.jsonl", 563, "1 of 2000 outputs hold HTML escapes, as in “&amp;”"),
        ("generators/Online-B.1605.jsonl", 1, "1,136 of 1,997 outputs are another row's, or nearly (DiDi_NLP.401)"),
        ("generators/Online-B.1605.jsonl", 1, "1,559 of 1,997 outputs are another row's, or nearly (SJTU-NICT.320)"),
        ("generators/Online-Z.1646.jsonl", 563, "1 of 2000 outputs hold HTML escapes, as in “&amp;”"),
        ("generators/SJTU-NICT.320.jsonl", 1, "1,290 of 1,997 outputs are another row's, or nearly (DiDi_NLP.401)"),
        ("generators/SJTU-NICT.320.jsonl", 1, "1,559 of 1,997 outputs are another row's, or nearly (Online-B.1605)"),
    ]


@pytest.mark.long
@pytest.mark.data
def test_a_lowercased_and_tokenised_copy_of_released_outputs_is_found(shared_data: Path, tmp_path: Path) -> None:
    board = _zh_en(shared_data, 300)
    row = board.rows[0]
    worse = tuple(text and text.lower().replace(",", " ,").replace(".", " .") for text in row.texts)
    board = replace(board, rows=(*board.rows, row_of(Generator("worse"), board.instances, worse)))
    lines = doubts(write_board(board, tmp_path / "b"), "generators/worse.jsonl")
    assert [line.split(" outputs ")[1].split(" (")[0] for line in lines] == [
        "look tokenised",
        "have no capital letter",
        "are another row's, or nearly",
    ]


def _zh_en(data: Path, count: int = 2000) -> Board:
    folder = data / "billboard" / "submissions" / "wmt20-zh-en"
    sources = _read(folder / "source" / "wmt20-zh-en_src.jsonl", "src")
    references = _read(data / "wmt20_references" / "wmt20-zh-en_refs.jsonl", "refs")
    instances = tuple(
        Instance(
            str(k), references=tuple(Reference(name, text) for name, text in zip("AB", refs, strict=True)), input=source
        )
        for k, (source, refs) in enumerate(zip(sources, references, strict=True))
    )[:count]
    rows = tuple(
        row_of(Generator(path.stem.removeprefix("wmt20-zh-en_")), instances, tuple(_read(path, "hyp"))[:count])
        for path in sorted((folder / "generators").glob("*.jsonl"))
    )
    return Board(
        name="zh-en",
        instances=instances,
        rows=rows,
        judgments=JudgmentColumns(()).build(),
    )


def _read(path: Path, key: str) -> Sequence[str]:
    return [json.loads(line)[key] for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.long
@pytest.mark.data
def test_released_scores_that_were_copied_over_another_generator_are_found(shared_data: Path, tmp_path: Path) -> None:
    """cnndm's released COMET scores of BanditSum and NEUSUM are the same although the summaries are not."""
    board = bb.import_board("billboard", shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB")
    bb.save(board, tmp_path / "cnndm")
    copied = [str(problem) for problem in check_board(tmp_path / "cnndm") if "very scores" in problem.message]
    assert copied == [
        "scores/wmt20-comet-da.tsv:1: warning: 'NEUSUM' has the very scores of 'BanditSum' although their outputs "
        "differ; one column may be a copy: compare with the source"
    ]


def chinese_board(root: Path, metrics: str) -> Path:
    """A board of two Chinese outputs that names these metrics."""
    instances = tuple(Instance(key, references=(Reference("r", f"我们去北京{key}。"),), input="x") for key in "ab")
    rows = tuple(row_of(Generator(name), instances, (f"我们到北京{name}a。", f"大家去北京{name}b。")) for name in "gh")
    board = Board(name="zh", instances=instances, rows=rows, metrics=(metrics,), output_language="zh")
    write_board(board, root)
    return root


def test_metrics_that_can_not_work_in_the_language_are_named(tmp_path: Path) -> None:
    told = (
        "board.toml:3: warning: BLEU(tokenize=13a) leaves texts in zh uncut (tokenize=13a), so that nearly every score"
    )
    assert any(message.startswith(told) for message in messages(chinese_board(tmp_path / "a", "BLEU(tokenize=13a)")))
    assert not any("BLEU" in message for message in messages(chinese_board(tmp_path / "b", "BLEU")))


def test_a_column_of_zeros_is_doubted(tmp_path: Path) -> None:
    root = chinese_board(tmp_path / "a", "BLEU")
    board = open_board(root)
    assert bb.score(board, ["chrF"]).zero == ()
    assert bb.score(board, ["ROUGE-L(tokenizer=rouge-score)"]).zero == ("ROUGE-L(tokenizer=rouge-score)",)
    zeros = [message for message in messages(root) if "is 0 for every output" in message]
    assert len(zeros) == 1
    assert zeros[0].startswith(
        ".billboards/cells.sqlite: warning: ROUGE-L(tokenizer=rouge-score) is 0 for every output"
    )
