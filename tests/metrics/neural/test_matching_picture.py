"""The matching of two texts as a picture, and BERTScore as a loss."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")

from billboards.metrics.neural.bert_score import score  # noqa: E402
from billboards.metrics.neural.heatmap import Matching, match  # noqa: E402
from billboards.metrics.neural.loss import BERTScoreLoss  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"

#: transformers compiles parts of DeBERTa in a way that torch is about to drop.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")


def test_the_best_match_of_each_row_is_boxed_and_of_each_column_dotted() -> None:
    matching = Matching(("<a>", "b"), ("x", "y", "z"), np.array([[0.9, 0.1, 0.5], [0.2, 0.3, -0.1]]))
    assert matching.precision_matches == (0, 1)
    assert matching.recall_matches == (0, 1, 0)
    picture = ElementTree.fromstring(matching.svg())
    cells = [one for one in picture.iter(f"{SVG}rect") if one.get("stroke") is None]
    assert [one.get("fill-opacity") for one in cells] == ["0.675", "0.075", "0.375", "0.150", "0.225", "0.000"]
    assert sum(one.get("stroke-width") == "2" for one in picture.iter(f"{SVG}rect")) == 2
    assert sum(one.get("stroke-dasharray") is not None for one in picture.iter(f"{SVG}rect")) == 3
    words = [one.text for one in picture.iter(f"{SVG}text")]
    assert words[:5] == ["<a>", "b", "x", "y", "z"]
    assert matching._repr_svg_() == matching.svg()


def test_the_rows_best_cosines_average_to_precision(tiny_model: Callable[[str], Path]) -> None:
    folder, output, reference = str(tiny_model("BERT")), "the cat sat", "a small cat ran away"
    matching = match(output, reference, model=folder, layer=2)
    assert matching.output == ("the", "cat", "sat")
    assert matching.reference == ("a", "small", "cat", "ran", "away")
    precision, recall, _ = (float(part) for part in score([output], [reference], model_type=folder, num_layers=2))
    # The score may match a word with the tokens around the text, too; the picture leaves those out.
    assert matching.cosines.max(1).mean() <= precision + 1e-6
    assert matching.cosines.max(0).mean() <= recall + 1e-6
    assert matching.cosines.max(1).mean() == pytest.approx(precision, abs=0.2)


def test_an_empty_text_has_an_empty_picture(tiny_model: Callable[[str], Path]) -> None:
    matching = match("", "a cat", model=str(tiny_model("BERT")), layer=1)
    assert (matching.output, matching.precision_matches, matching.recall_matches) == ((), (), ())
    ElementTree.fromstring(matching.svg())


def certain(loss: BERTScoreLoss, texts: list[str]) -> tuple[Any, Any]:
    """Distributions that are certain of the tokens of these texts."""
    ids, there = loss._padded(texts)
    return torch.nn.functional.one_hot(ids, loss.vocabulary).float(), there


@pytest.mark.parametrize("architecture", ["BERT", "DeBERTa"])
def test_the_loss_of_certain_outputs_is_1_minus_the_score(architecture: str, tiny_model: Callable[[str], Path]) -> None:
    folder, outputs = str(tiny_model(architecture)), ["the cat sat", "a dog ran away under the mat"]
    references = ["a small cat ran", "the dog ran"]
    loss = BERTScoreLoss(folder, 2)
    parts = score(outputs, references, model_type=folder, num_layers=2)
    expected = 1 - float(parts[2].mean())
    assert float(loss(*certain(loss, outputs), references)) == pytest.approx(expected, abs=1e-5)


def test_training_against_the_loss_lowers_it(tiny_model: Callable[[str], Path]) -> None:
    loss = BERTScoreLoss(str(tiny_model("BERT")), 2, part="R")
    distributions, there = certain(loss, ["a dog ran"])
    logits = (distributions * 2).requires_grad_(True)
    training = torch.optim.Adam([logits], lr=0.3)
    seen = []
    for _ in range(15):
        training.zero_grad()
        value = loss(logits.softmax(-1), there, ["the small mat"])
        value.backward()
        training.step()
        seen.append(float(value.detach()))
    assert seen[-1] < seen[0] - 0.02
