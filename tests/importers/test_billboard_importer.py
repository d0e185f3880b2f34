"""The public billboard layout: its four boards, its released scores, and what is wrong with damaged clones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from billboards.board import Board, human_scores
from billboards.board.judgment_sources import Imported
from billboards.board.writing import write_board
from billboards.errors import ImportRefused, UnknownName
from billboards.importers.billboard import billboard, read_references

Write = Callable[..., Path]


def en_de(root: Path, *, judgments: bool = True, references: bool = True) -> Imported:
    return billboard(
        root / "billboard",
        board="wmt20-en-de",
        judgments=root / "mqm" if judgments else None,
        references=root / "references" if references else None,
    )


def mscoco(root: Path) -> Imported:
    return billboard(root / "billboard", board="mscoco", judgments=root / "THumB")


def refused(root: Path) -> str:
    with pytest.raises(ImportRefused) as refusal:
        en_de(root)
    return str(refusal.value)


def human(board: Board, aggregate: str | None = None) -> dict[str, list[float]]:
    shape = (len(board.rows), len(board.instances))
    found = human_scores(board.judgments, board.aggregate(aggregate), board.dimensions, shape)
    return {row.name: found[k].tolist() for k, row in enumerate(board.rows)}


def pooled_pearson(board: Board, metric: str) -> tuple[float, int]:
    """Pearson over all judged outputs of the generators that a released metric scores."""
    judged = human(board)
    column = next(c for c in board.imported if c.name == metric)
    pairs = np.array([pair for name in column.values for pair in zip(column.values[name], judged[name], strict=True)])
    pairs = pairs[~np.isnan(pairs).any(axis=1)]
    return float(np.corrcoef(pairs.T)[0, 1]), len(pairs)


def test_a_translation_board_has_people_among_its_generators(translations: Write) -> None:
    board = en_de(translations()).board
    assert [(g.name, g.kind) for g in board.generators] == [
        ("Human-A", "human"),
        ("Human-P", "human"),
        ("X.1", "machine"),
        ("Y.2", "machine"),
    ]
    assert board.row("Human-P").texts == ("p1", "p2", "p3")
    assert human(board)["Human-P"] == [96.0, 92.0, 88.0]
    assert np.isnan(human(board)["Human-A"]).all()
    assert (board.input_language, board.output_language, board.ranks) == ("en", "de", "overall")
    assert board.aggregates["overall"].campaigns == ("mqm",)
    assert board.dimensions["mqm"].range == (-25.0, 0.0)


def test_the_other_language_pairs_file_of_mqm_is_not_taken(translations: Write) -> None:
    assert len(en_de(translations()).board.judgments) == 9


def test_without_references_people_are_left_out_and_noted(translations: Write) -> None:
    found = en_de(translations(), references=False)
    assert [g.name for g in found.board.generators] == ["X.1", "Y.2"]
    assert any("left out the judgments of Human-P.0" in note for note in found.notes)
    assert found.board.metrics == ("length", "repetition-3", "abstractness-2")


def test_without_judgments_nothing_ranks_and_a_note_says_so(translations: Write) -> None:
    found = en_de(translations(), judgments=False)
    assert found.board.ranks is None
    assert any("add --judgments" in note for note in found.notes)


def test_references_are_aligned_by_details_where_there_are_any(translations: Write) -> None:
    details = "1\tnews\ten-de\td\t2\n2\tnews\ten-de\td\t1\n3\tnews\ten-de\td\t3\n"
    renamed = {
        ending: "".join(json.dumps({"seg_id": f"d::{k}", "set_id": k - 1, key: f"{k}"}) + "\n" for k in (1, 2, 3))
        for ending, key in (("_src.jsonl", "src"), ("_X.1.jsonl", "hyp"), ("_Y.2.jsonl", "hyp"))
    }
    root = translations({**renamed, "X.1||SentBLEU.csv": None, "Y.2||SentBLEU.csv": None})
    (root / "references/en-de/details.tsv").write_text(details)
    board = en_de(root).board
    assert [i.references[0].text for i in board.instances] == ["a2", "a1", "a3"]
    assert {i.document for i in board.instances} == {"d"}


def test_references_may_be_one_file_and_need_no_names(translations: Write) -> None:
    lines = [{"seg_id": f"s{k}", "set_id": k - 1, "refs": [f"r{k}", f"q{k}"]} for k in (3, 1, 2)]
    path = translations() / "mine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    board = billboard(path.parent / "billboard", board="wmt20-en-de", references=path).board
    assert [(r.name, r.text) for r in board.instances[0].references] == [("ref1", "r1"), ("ref2", "q1")]
    assert board.imported[0].references == ("ref1", "ref2")


def test_captions_have_images_and_a_human_whose_text_stands_in_the_ratings(captions: Write) -> None:
    board = mscoco(captions()).board
    assert [(i.image, i.input) for i in board.instances] == [("1.jpg", None), ("2.jpg", None)]
    assert board.generator("Human").kind == "human"
    assert board.row("Human").texts == ("Somebody's dog.", "Somebody's cat.")
    assert human(board) == {"Human": [70.0, 65.0], "Up-Down": [70.0, 60.0]}
    assert board.reference_names == ("ref1", "ref2", "Human")
    assert board.is_reference(board.row("Human"), board.references)
    assert "abstractness-2" not in board.metrics
    assert {"METEOR", "CharacTER", "CIDEr-D"} <= set(board.metrics)


def test_released_names_of_captioning_metrics_become_the_papers(captions: Write) -> None:
    board = mscoco(captions()).board
    told = {c.source_name: (c.name, c.needs_references, c.needs_input, c.is_ensemble) for c in board.imported}
    assert told == {
        "CLIPS": ("CLIP-S", False, True, False),
        "RefCLIPS": ("RefCLIP-S", True, True, False),
        "RefOnlyCLIPS": ("RefOnlyC", True, False, False),
        "ensemble": ("ensemble", True, True, True),
    }


def test_a_rating_of_another_text_is_left_out_and_noted(captions: Write) -> None:
    root = captions()
    path = root / "THumB/mscoco/mscoco_THumB-1.0.jsonl"
    path.write_text(path.read_text().replace('"A cat."', '"A tiger."'))
    found = mscoco(root)
    assert np.isnan(human(found.board)["Up-Down"][1])
    assert any("left out 1 judgments, the first of another text of Up-Down on 's2'" in note for note in found.notes)


def test_a_total_that_is_not_the_sum_of_its_parts_is_noted(captions: Write) -> None:
    root = captions()
    path = root / "THumB/mscoco/mscoco_THumB-1.0.jsonl"
    path.write_text(path.read_text().replace('"human_score": 3.25', '"human_score": 3.5'))
    assert any("is not (P + R) / 2 + Fl + Inc + Con on 1 lines, first line 4" in note for note in mscoco(root).notes)


def test_a_board_of_an_unknown_name_is_read_without_assumptions(translations: Write) -> None:
    root = translations()
    old = root / "billboard/submissions/wmt20-en-de"
    for path in list(old.rglob("*.jsonl")):
        path.rename(path.with_name(path.name.replace("wmt20-en-de", "mine")))
    old.rename(old.with_name("mine"))
    board = billboard(root / "billboard", board="mine").board
    assert (board.input_language, board.instances[0].document, board.instances[0].input) == (None, None, "one")
    with pytest.raises(ImportRefused, match="not known; import it without --judgments"):
        billboard(root / "billboard", board="mine", judgments=root / "mqm")


def test_a_missing_board_is_named_with_those_there_are(translations: Write) -> None:
    with pytest.raises(UnknownName, match="no board named 'wmt20-de-en'; did you mean wmt20-en-de"):
        billboard(translations() / "billboard", board="wmt20-de-en")


def test_a_folder_that_is_no_clone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=r"no folder submissions/; give a clone of jungokasai/billboard"):
        billboard(tmp_path, board="cnndm")


def test_a_missing_segment_of_a_generator_is_named(translations: Write) -> None:
    lines = '{"seg_id": "s1", "set_id": 0, "hyp": "x"}\n{"seg_id": "s3", "set_id": 2, "hyp": "x"}\n'
    assert "wmt20-en-de_X.1.jsonl: lacks 1 of 3 segments, first 's2'" in refused(translations({"_X.1.jsonl": lines}))


def test_ids_that_disagree_with_the_sources_are_named(translations: Write) -> None:
    lines = "".join(json.dumps({"seg_id": f"s{k}", "set_id": k, "hyp": "x"}) + "\n" for k in (1, 2, 3))
    assert "_X.1.jsonl:1: set_id 1 of 's1' is 0 in the sources" in refused(translations({"_X.1.jsonl": lines}))


def test_a_number_used_twice_in_the_sources_is_named(translations: Write) -> None:
    lines = "".join(json.dumps({"seg_id": f"s{k}", "set_id": 0, "src": "x"}) + "\n" for k in (1, 2))
    assert "_src.jsonl:2: set_id 0 of 's2' is also that of 's1'" in refused(translations({"_src.jsonl": lines}))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seg_id,set_id", "set_id,seg_id", "csv:1: the first line must read SYS,seg_id,set_id,metric,score"),
        ("X.1,s2,1,", "X.1,s2,2,", "csv:3: set_id 2 of 's2' is 1 in the sources"),
        ("X.1,s2,1,", f"X.1,s2,{'9' * 5000},", "csv:3: must hold X.1,seg_id,set_id,SentBLEU,score"),
        ("X.1,s2,1,", "X.1,s9,1,", "csv:3: segment 's9' is not in the sources"),
        ("X.1,s2,1,", "X.1,s1,0,", "csv:3: segment 's1' appears twice, first on line 2"),
        ("X.1,s2,1,SentBLEU,2\n", "", "csv: lacks 1 of 3 segments, first 's2'"),
        ("X.1,s2,1,", "Y.2,s2,1,", "csv:3: must hold X.1,seg_id,set_id,SentBLEU,score"),
        ("SentBLEU,2", "TER,2", "csv:3: must hold X.1,seg_id,set_id,SentBLEU,score"),
        ("SentBLEU,2", "SentBLEU,1e999", "csv:3: score '1e999' is not a finite number"),
        ("SentBLEU,2", "SentBLEU,two", "csv:3: score 'two' is not a finite number"),
        ("SentBLEU,2", "SentBLEU,1_0", "csv:3: score '1_0' is not a finite number"),
        ("SentBLEU,2", "SentBLEU,2,9", "csv:3: must hold"),
        ("SentBLEU,3\n", "SentBLEU,3", "csv:4: the last line has no line end"),
        ("SentBLEU,2", '"SentBLEU,2', "not CSV: unexpected end of data"),
    ],
)
def test_a_damaged_score_file_is_refused(translations: Write, old: str, new: str, message: str) -> None:
    root = translations()
    path = root / "billboard/results/wmt20-en-de/X.1||SentBLEU.csv"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert message in refused(root)


def test_nan_scores_are_missing_and_counted(translations: Write) -> None:
    root = translations()
    path = root / "billboard/results/wmt20-en-de/X.1||SentBLEU.csv"
    path.write_text(path.read_text().replace("SentBLEU,2", "SentBLEU,nan"))
    found = en_de(root)
    assert np.isnan(found.board.imported[0].values["X.1"]).tolist() == [False, True, False]
    assert "1 released SentBLEU scores are NaN; they stay missing" in found.notes


def test_scores_of_an_unknown_generator_are_refused(translations: Write) -> None:
    root = translations()
    (root / "billboard/results/wmt20-en-de/Z||SentBLEU.csv").write_text("SYS,seg_id,set_id,metric,score\n")
    assert "scores generator 'Z', which has no file in submissions/" in refused(root)


def test_a_generator_without_some_scores_is_noted(translations: Write) -> None:
    found = en_de(translations({"Y.2||SentBLEU.csv": None}))
    assert "no released SentBLEU scores for Y.2" in found.notes
    assert list(found.board.imported[0].values) == ["X.1"]


def test_a_file_that_is_not_named_as_the_layout_says_is_refused(translations: Write) -> None:
    root = translations()
    (root / "billboard/results/wmt20-en-de/SentBLEU.csv").write_text("SYS,seg_id,set_id,metric,score\n")
    assert "SentBLEU.csv: a score file must be named GENERATOR||METRIC.csv" in refused(root)


def test_a_generator_file_of_another_board_is_refused(translations: Write) -> None:
    root = translations()
    folder = root / "billboard/submissions/wmt20-en-de/generators"
    (folder / "wmt20-en-de_X.1.jsonl").rename(folder / "cnndm_X.1.jsonl")
    assert "cnndm_X.1.jsonl: a generator's file must be named wmt20-en-de_NAME.jsonl" in refused(root)


def test_a_machine_that_is_judged_but_has_no_outputs_is_refused(translations: Write) -> None:
    root = translations()
    path = root / "mqm/newstest2020/ende/mqm_newstest2020_ende.avg_seg_scores.tsv"
    path.write_text(path.read_text().replace("Y.2 ", "Z.3 "))
    assert "judges system 'Z.3', which has no outputs on board wmt20-en-de" in refused(root)


def test_a_segment_id_with_a_tab_is_refused(translations: Write) -> None:
    lines = json.dumps({"seg_id": "s\t1", "set_id": 0, "src": "x"}) + "\n"
    assert "_src.jsonl:1: segment 's\\t1' holds the character U+0009" in refused(translations({"_src.jsonl": lines}))


def test_a_truncated_reference_file_is_refused(translations: Write) -> None:
    assert "Human-P.txt: has 2 lines for 3 segments; cut off?" in refused(translations({"Human-P.txt": "p1\np2\n"}))
    assert "Human-P.txt:3: the last line has no line end" in refused(translations({"Human-P.txt": "p1\np2\np"}))


@pytest.mark.long
def test_a_hundred_thousand_instances_are_read(tmp_path: Path) -> None:
    count = 100_000
    folder = tmp_path / "submissions/big"
    (folder / "source").mkdir(parents=True)
    (folder / "generators").mkdir()
    (tmp_path / "results/big").mkdir(parents=True)
    line = '{"seg_id": "s%d", "set_id": %d, "%s": "text %d"}\n'
    for path, key in ((folder / "source/big_src.jsonl", "src"), (folder / "generators/big_G.jsonl", "hyp")):
        path.write_text("".join(line % (k, k, key, k) for k in reversed(range(count))))
    lines = (f"G,s{k},{k},M,{k / 8}\n" for k in range(count))
    (tmp_path / "results/big/G||M.csv").write_text("SYS,seg_id,set_id,metric,score\n" + "".join(lines))
    board = billboard(tmp_path, board="big").board
    assert board.instances[77_777].id == "s77777"
    assert board.row("G").texts[77_777] == "text 77777"
    assert board.imported[0].values["G"][77_777] == 77_777 / 8


@pytest.mark.long
@pytest.mark.data
def test_wmt20_zh_en_is_complete_and_comet_correlates_as_published(shared_data: Path) -> None:
    found = billboard(
        shared_data / "billboard",
        board="wmt20-zh-en",
        judgments=shared_data / "wmt-mqm-human-evaluation",
        references=shared_data / "wmt20_references",
    )
    board = found.board
    kinds = [generator.kind for generator in board.generators]
    assert (kinds.count("machine"), kinds.count("human"), len(board.instances)) == (19, 2, 2000)
    assert len([c for c in board.imported if not c.is_ensemble]) == 15
    assert [c.name for c in board.imported if c.is_ensemble] == ["ensemble"]
    assert (board.instances[0].document, board.instances[0].domain) == ("xinhua-zh-01.6565", "news")
    assert board.references == ("Human-A", "Human-B")
    assert board.metrics == ("BLEU", "chrF", "chrF++", "TER", "ROUGE-1", "ROUGE-2", "ROUGE-3", "ROUGE-L", "length",
                             "repetition-3", "abstractness-2")  # fmt: skip
    correlation, count = pooled_pearson(board, "COMET")
    assert (round(correlation, 4), count) == (0.5513, 16000)
    set_ids = {instance.id: k for k, instance in enumerate(board.instances)}
    texts, notes = read_references(shared_data / "wmt20_references/zh-en", board.name, "zh-en", set_ids)
    assert (texts, notes) == ({instance.id: instance.references for instance in board.instances}, ())


@pytest.mark.data
def test_cnndm_has_every_annotators_rating_and_comet_correlates_as_published(shared_data: Path) -> None:
    board = billboard(shared_data / "billboard", board="cnndm", judgments=shared_data / "THumB").board
    assert (len(board.generators), len(board.instances), len(board.judgments)) == (26, 100, 1800 * 3 + 1600 * 5)
    assert board.generator("Human-H").kind == "human"
    assert board.judgments.campaigns == ("crowd", "expert")
    assert len(board.reference_names) == 10
    correlation, count = pooled_pearson(board, "COMET")
    assert (round(correlation, 4), count) == (0.4069, 1800)
    first = json.loads((shared_data / "THumB/cnndm/cnndm_THumB-1.0.jsonl").read_text().split("\n")[0])
    k = board.position[first["seg_id"]]
    assert human(board)[first["SYS"]][k] == pytest.approx(first["human_score"] * 20)
    assert human(board, "crowd")["Lead-3"][k] == pytest.approx(20 * (23 + 21 + 21 + 23) / 20)


OPUS = "clones/OPUS-MT-testsets/testsets/eng-deu"
PARAPHRASED = "clones/wmt19-paraphrased-references/wmt20/ende/wmt20-ende-wmtp.ref"


def lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    return root


def from_clones(root: Path, *references: Path) -> Imported:
    return billboard(root / "billboard", board="wmt20-en-de", judgments=root / "mqm", references=references)


CLONED = {
    f"{OPUS}/newstest2020.eng": '"One"\nTwo.\nthree\n',
    f"{OPUS}/newstest2020.deu": "a1\na2\na3\n",
    f"{OPUS}/newstestB2020.deu": "b1\nb2\nb3\n",
    f"{OPUS}/newstest2019.deu": "other\n",
    PARAPHRASED: "p1\np2\np3\n",
}


def test_references_are_read_from_the_public_clones_as_they_are(translations: Write) -> None:
    root = lay(translations(), CLONED)
    clones = root / "clones"
    told = from_clones(root, clones / "OPUS-MT-testsets", clones / "wmt19-paraphrased-references")
    assert [(r.name, r.text) for r in told.board.instances[1].references] == [
        ("Human-A", "a2"),
        ("Human-B", "b2"),
        ("Human-P", "p2"),
    ]
    assert "newstest2020.eng: 2 of 3 sources differ from the board's in quotes or other signs alone" in told.notes
    assert any("Human-P was matched by the order" in note for note in told.notes)


def test_one_folder_with_both_clones_gives_the_same_references(translations: Write) -> None:
    root = lay(translations(), CLONED)
    both = from_clones(root, root / "clones" / "OPUS-MT-testsets", root / "clones" / "wmt19-paraphrased-references")
    assert from_clones(root, root / "clones").board.instances == both.board.instances


def test_a_line_that_belongs_to_another_source_is_refused_with_its_number(translations: Write) -> None:
    root = lay(translations(), {**CLONED, f"{OPUS}/newstest2020.eng": "one\nthree\ntwo\n"})
    with pytest.raises(ImportRefused, match=r"newstest2020\.eng:2: is not the source of segment 's2'"):
        from_clones(root, root / "clones")


def test_a_cut_off_file_of_references_is_refused(translations: Write) -> None:
    root = lay(translations(), {**CLONED, f"{OPUS}/newstestB2020.deu": "b1\nb2\n"})
    with pytest.raises(ImportRefused, match=r"newstestB2020\.deu: has 2 lines for 3 segments"):
        from_clones(root, root / "clones")


def test_the_same_translator_from_two_folders_is_refused(translations: Write) -> None:
    root = lay(translations(), CLONED)
    with pytest.raises(ImportRefused, match="brings references of Human-A, and so does"):
        from_clones(root, root / "clones" / "OPUS-MT-testsets", root / "references")


def test_windows_line_ends_change_no_reference(translations: Write) -> None:
    root = lay(translations(), {name: text.replace("\n", "\r\n") for name, text in CLONED.items()})
    assert [r.text for r in from_clones(root, root / "clones").board.instances[2].references] == ["a3", "b3", "p3"]


def test_a_folder_without_references_says_what_was_looked_for(translations: Write) -> None:
    root = translations()
    with pytest.raises(ImportRefused, match=r"testsets/eng-deu/newstest2020\.deu \(OPUS-MT-testsets\)"):
        from_clones(root, root / "mqm")


@pytest.mark.long
@pytest.mark.data
def test_public_clones_alone_give_the_same_board_as_the_shared_references(shared_data: Path, tmp_path: Path) -> None:
    copies, folder = shared_data / "wmt20_references" / "zh-en", tmp_path / "OPUS-MT-testsets/testsets/zho-eng"
    folder.mkdir(parents=True)
    for name, copy in (("2020.zho", "src"), ("2020.eng", "Human-A"), ("B2020.eng", "Human-B")):
        (folder / f"newstest{name}").symlink_to(copies / f"{copy}.txt")

    def board(references: Path) -> Board:
        judgments = shared_data / "wmt-mqm-human-evaluation"
        return billboard(
            shared_data / "billboard", board="wmt20-zh-en", judgments=judgments, references=references
        ).board

    cloned, shared = board(tmp_path / "OPUS-MT-testsets"), board(shared_data / "wmt20_references")
    assert cloned.references == ("Human-A", "Human-B")
    assert (cloned.instances, cloned.rows, cloned.card) == (shared.instances, shared.rows, shared.card)
    assert write_board(cloned, tmp_path / "a") != write_board(shared, tmp_path / "b")
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert [f for f in files if (tmp_path / "a" / f).read_bytes() != (tmp_path / "b" / f).read_bytes()] == []
