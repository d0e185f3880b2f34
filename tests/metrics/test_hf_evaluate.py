"""Modules of Hugging Face's evaluate as metrics; the package is the real one, its modules are written here."""

from __future__ import annotations

import pickle
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_boards import small_board

import billboards as bb
from billboards.errors import InvalidInput, MetricFailed, MissingPart, UnknownName
from billboards.metrics.discovery import board_metric
from billboards.metrics.hf_evaluate import SEED
from billboards.stats.resampling import Resampling

evaluate = pytest.importorskip("evaluate", reason="evaluate is in the extra of that name")

OUTPUTS = ["a b c d", "a b", "x y z", "a b"]
REFERENCES = ["a b c e", "a b", "a b c", "b"]

MODULE = """
import datasets
import evaluate
import numpy as np

class Module(evaluate.Metric):
    def _info(self):
        text = datasets.Value("string")
        texts = datasets.Sequence(datasets.Value("string"))
        return evaluate.MetricInfo(
            description="shares of words", citation="", inputs_description="", license="a licence",
            features={features},
        )

    def _compute(self, {takes}):
        hits = [len(set(p.split()) & set(r.split() if isinstance(r, str) else r[0].split()))
                for p, r in zip(predictions, references)]
        words = [max(len(p.split()), 1) for p in predictions]
        {gives}
"""
ONE = 'datasets.Features({"predictions": text, "references": text})'
SEVERAL = f'[datasets.Features({{"predictions": text, "references": texts}}), {ONE}]'
TWO_ARGUMENTS = "predictions, references"

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes a module and says how it is named; what evaluate keeps lies apart, and nobody is called."""
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", tmp_path / "cache")
    monkeypatch.setattr(evaluate.config, "HF_METRICS_CACHE", tmp_path / "metrics")
    monkeypatch.setattr(socket.socket, "connect", _nobody)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path / "cache"))
    _forget_modules()

    def module(name: str, gives: str, *, features: str = ONE, takes: str = TWO_ARGUMENTS, fetched: bool = False) -> str:
        folder = tmp_path / (f"cache/evaluate_modules/metrics/evaluate-metric--{name}/{'0' * 64}" if fetched else name)
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(MODULE.format(gives=gives, features=features, takes=takes))
        return f"evaluate:{name}" if fetched else f"evaluate:./{name}"

    yield module
    _forget_modules()


def _forget_modules() -> None:
    """The package that evaluate imports its modules from belongs to one folder; the next test has another."""
    for name in [name for name in sys.modules if name.split(".")[0] == "evaluate_modules"]:
        del sys.modules[name]


def _nobody(*given: Any) -> None:
    raise AssertionError(f"something was fetched: {given[1:]}")


def test_a_number_for_all_outputs_is_the_value_and_a_call_for_each_its_score(write: Write) -> None:
    """All together: 3+2+0+1 words of 4+2+3+2 are shared; of each output 3/4, 2/2, 0/3 and 1/2."""
    scorer = bb.metric(write("shared", 'return {"shared": sum(hits) / sum(words)}'))
    scores = scorer.score(OUTPUTS, REFERENCES)
    assert scores.corpus == pytest.approx(6 / 11)
    np.testing.assert_allclose(scores.sentences, [3 / 4, 1, 0, 1 / 2])
    assert np.isnan(scores.interval()).all()
    assert scores.value(Resampling(10, 1)).value == scores.corpus
    assert scorer.name == "evaluate:shared"
    assert scorer.parts == ("shared",)
    assert scorer.card.licence == "a licence"
    assert f"|number:shared|seed:{SEED}|module:" in scorer.signature
    assert f"|evaluate:{evaluate.__version__}|needs:references|higher_is_better:yes" in scorer.signature
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(scorer)).score(OUTPUTS, REFERENCES), scores.sentences)
    assert scorer.corpus_score(bb.Batch(OUTPUTS, [[text] for text in REFERENCES])) == scores.corpus


def test_a_list_with_a_number_for_each_output_is_taken_as_it_is(write: Write) -> None:
    counted = (
        'import pathlib; c = pathlib.Path("calls"); c.write_text((c.read_text() if c.exists() else "") + "x")\n        '
    )
    lists = 'return {"f1": np.array(hits) / 2, "precision": [h / w for h, w in zip(hits, words)], "hashcode": "v1"}'
    name = write("bertscore", counted + lists)
    scorer = bb.metric(name)
    assert scorer.card.slow
    assert not Path("calls").exists()
    with pytest.raises(MetricFailed, match=r"gave no list of 4 numbers recall"):
        scorer.score(OUTPUTS, REFERENCES)
    plain = bb.metric(write("likeness", counted + lists) + "[precision]")
    Path("calls").unlink()
    scores = plain.score(OUTPUTS, REFERENCES)
    np.testing.assert_allclose(scores.sentences, [3 / 4, 1, 0, 1 / 2])
    np.testing.assert_allclose(scores["f1"], [1.5, 1, 0, 0.5])
    assert scores.corpus == pytest.approx(2.25 / 4)
    assert Path("calls").read_text() == "x"
    assert plain.name == "evaluate:likeness[precision]"


def test_the_number_that_is_meant_is_named_known_or_the_only_one(write: Write) -> None:
    gives = 'return {"rouge1": sum(hits), "rougeL": max(hits), "precisions": [1, 2, 3, 4]}'
    rouge = bb.metric(write("rouge", gives))
    assert (rouge.parts, rouge.score(OUTPUTS, REFERENCES).corpus) == (("rougeL", "rouge1"), 3)
    other = bb.metric("evaluate:./rouge[ROUGE1]")
    assert (other.name, other.score(OUTPUTS, REFERENCES).corpus) == ("evaluate:rouge[rouge1]", 6)
    with pytest.raises(UnknownName, match=r"no number of evaluate:rouge named 'rouge2'; did you mean rougeL, rouge1"):
        bb.metric("evaluate:./rouge[rouge2]")
    several = write("unheard", gives)
    with pytest.raises(InvalidInput, match=r"gives 2 numbers; say which .*: evaluate:unheard\[rouge1\], evaluate:unh"):
        bb.metric(several)
    with pytest.raises(MetricFailed, match="gave no number, but words"):
        bb.metric(write("wordy", 'return {"words": "many"}'))
    assert bb.metric(write("wer", "return sum(hits) / sum(words)")).parts == ("wer",)
    assert not bb.metric("evaluate:./wer").card.higher_is_better


def test_options_go_to_compute_and_stand_in_name_and_signature(write: Write) -> None:
    takes = "predictions, references, scale=1, kinds=(), unit='word'"
    gives = 'return {"scaled": scale * sum(hits) + 100 * len(kinds) + 1000 * (unit == "letter")}'
    name = write("scaled", gives, takes=takes)
    scorer = bb.metric(f"{name}(scale=2.5, kinds=['a', 'b'], unit=letter)")
    assert scorer.name == "evaluate:scaled(scale=2.5,kinds=['a', 'b'],unit=letter)"
    assert scorer.score(OUTPUTS, REFERENCES).corpus == 15 + 200 + 1000
    assert "|scale:2.5|kinds:['a', 'b']|unit:'letter'|" in scorer.signature
    assert bb.metric(name, scale=2.5, kinds=["a", "b"], unit="letter") == scorer
    lower = bb.metric(name, higher_is_better=False)
    assert (lower.card.higher_is_better, lower.signature.endswith("higher_is_better:no")) == (False, True)
    with pytest.raises(MetricFailed, match="unexpected keyword argument 'size'"):
        bb.metric(f"{name}(size=1)")
    with pytest.raises(InvalidInput, match="option scale must be a number, a text or a list of them"):
        bb.metric(name, scale=len)
    with pytest.raises(InvalidInput, match="higher_is_better must be True or False"):
        bb.metric(f"{name}(higher_is_better=no)")


def test_references_go_along_as_the_module_takes_them(write: Write) -> None:
    both = [[one, "unheard of"] for one in REFERENCES]
    several = bb.metric(write("several", 'return {"refs": sum(len(r) for r in references)}', features=SEVERAL))
    assert several.score(OUTPUTS, both, nesting="output").corpus == 8
    single = bb.metric(write("single", 'return {"refs": len(references)}'))
    with pytest.raises(MetricFailed, match=r"takes one reference for an output, and 'a b c d' has 2; choose one"):
        single.score(OUTPUTS, both, nesting="output")
    features = 'datasets.Features({"predictions": text, "references": texts, "sources": text})'
    simple = bb.metric(
        write("simple", 'return {"s": sum(map(len, sources))}', features=features, takes=f"{TWO_ARGUMENTS}, sources")
    )
    assert (simple.card.needs_input, simple.card.needs_references) == (True, True)
    assert simple.score(OUTPUTS, REFERENCES, ["ab", "c", "", "d"]).corpus == 4
    numbers = 'datasets.Features({"predictions": datasets.Value("int32"), "references": datasets.Value("int32")})'
    with pytest.raises(InvalidInput, match="evaluate:numbers can't score texts"):
        bb.metric(write("numbers", 'return {"n": 1}', features=numbers))


def test_a_module_that_was_fetched_before_is_found_by_name_alone(write: Write) -> None:
    write("google_bleu", 'return {"google_bleu": sum(hits)}', fetched=True)
    assert bb.metric("evaluate:google_bleu").score(OUTPUTS, REFERENCES).corpus == 6
    assert bb.metric("Evaluate:Google_BLEU").name == "evaluate:google_bleu"
    write("sacrebleu", 'return {"score": 1.0}')
    with pytest.raises(MissingPart, match=r"fetches it: python -c .import evaluate; evaluate.load\('sacrebleu'\)"):
        bb.metric("evaluate:sacrebleu")
    with pytest.raises(InvalidInput, match="there is no file"):
        bb.metric("evaluate:./nowhere")
    with pytest.raises(InvalidInput, match="is no module's name; a path begins with"):
        bb.metric("evaluate:a/b/c")


def test_a_module_that_fails_or_changes_is_named(write: Write, tmp_path: Path) -> None:
    name = write("odd", 'if len(predictions) == 4: raise KeyError("four")\n        return {"odd": float("nan")}')
    with pytest.raises(MetricFailed, match=r"evaluate:\./odd: KeyError: 'four'"):
        bb.metric(name).score(OUTPUTS, REFERENCES)
    with pytest.raises(MetricFailed, match="scored 3 outputs together as nan"):
        bb.metric(name).score(OUTPUTS[:3], REFERENCES[:3])
    before = bb.metric(write("kept", 'return {"kept": 1.0}'))
    (tmp_path / "kept" / "kept.py").write_text((tmp_path / "kept" / "kept.py").read_text() + "\n# other\n")
    assert bb.metric("evaluate:./kept").signature != before.signature
    needing = write("needing", 'return {"needing": 1.0}')
    path = tmp_path / "needing" / "needing.py"
    path.write_text("import no_such_package_here\n" + path.read_text())
    with pytest.raises(MissingPart, match="pip install no_such_package_here"):
        bb.metric(needing)


def test_without_the_package_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "evaluate", None)
    with pytest.raises(MissingPart, match=r"not installed; install it with `pip install 'billboards\[evaluate\]'`"):
        bb.metric("evaluate:google_bleu")


def test_a_board_keeps_its_scores_and_names_no_path(write: Write, tmp_path: Path) -> None:
    name = write("shared", 'return {"shared": sum(hits) / sum(words), "hits": sum(hits)}', features=SEVERAL)
    board = bb.save(small_board(), tmp_path / "small")
    report = bb.score(board, [f"{name}[shared]", f"{name}[hits]"])
    assert not report.failures
    ranking = bb.rank(board, by="evaluate:shared[hits]").value
    assert {"evaluate:shared[shared]", "evaluate:shared[hits]"} <= {standing.name for standing in ranking.metrics}
    assert ranking.ranked_by == "evaluate:shared[hits]"
    for spec in (name, f"{name}[hits]", "evaluate:/my/x.py", "evaluate:bertscore(model_type=/my/x)", "evaluate: ./x"):
        with pytest.raises(InvalidInput, match=r"a board's file can't name a path; name it yourself, with --metric"):
            board_metric(spec, None)
    naming = bb.save(replace(small_board(), metrics=(name,)), tmp_path / "naming")
    with pytest.raises(InvalidInput, match="a board's file can't name a path"):
        bb.score(naming)
    write("plain", 'return {"plain": 1.0}', fetched=True)
    assert board_metric("evaluate:plain", None).name == "evaluate:plain"
