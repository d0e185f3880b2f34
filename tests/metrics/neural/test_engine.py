"""The engine: bounded windows, distinct texts, memory that runs out, several devices, embeddings kept on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")

from billboards.errors import InvalidInput, MetricFailed, StoreFailed  # noqa: E402
from billboards.metrics.neural.devices import find_devices  # noqa: E402
from billboards.metrics.neural.encoder import Encoder, batches  # noqa: E402
from billboards.metrics.neural.engine import Engine, Where, start_engine  # noqa: E402
from billboards.metrics.neural.idf import even_weights  # noqa: E402
from billboards.metrics.neural.matching import score_texts  # noqa: E402
from billboards.metrics.neural.readout import AllLayers, TopLayer  # noqa: E402
from billboards.metrics.neural.weights import Weights  # noqa: E402
from billboards.metrics.neural.windows import Ahead, halve_until_it_fits, plan_windows  # noqa: E402

Texts = tuple[list[str], list[list[str]]]
Tiny = Callable[[str], Path]


@pytest.fixture
def bert(tiny_model: Tiny) -> Weights:
    folder = tiny_model("BERT")
    return Weights(str(folder), folder)


def scored(engine: Engine, texts: Texts) -> Any:
    return score_texts(engine, *texts, even_weights(engine.tokenizer))


def test_outputs_with_the_same_references_share_a_window_and_each_text_is_there_once() -> None:
    outputs, references = ["a b", "c", "a b", " a b ", "d"], [["r"], ["s"], ["r"], ["r", "t"], ["r"]]
    (window,) = plan_windows(outputs, references, 10**6)
    assert list(window.texts) == ["a b", "r", "d", "c", "s", "t"]
    assert window.items.tolist() == [0, 2, 4, 1, 3, 3]
    assert [window.texts[k] for k in window.outputs] == ["a b", "a b", "d", "c", "a b", "a b"]
    assert [window.texts[k] for k in window.references] == ["r", "r", "r", "s", "r", "t"]


def test_a_window_is_closed_when_it_is_full_whatever_the_board_holds() -> None:
    outputs = [f"output number {k:06}" for k in range(10_000)]
    windows = list(plan_windows(outputs, [[f"reference {k // 10:05}"] for k in range(10_000)], 5_000))
    assert max(sum(len(text) + 2 for text in window.texts) for window in windows) < 5_000 + 50
    assert len(windows[0].items) < len(windows[1].items)
    assert np.concatenate([window.items for window in windows]).tolist() == list(range(10_000))


def test_batches_hold_as_many_tokens_as_allowed_and_a_longer_text_is_one_of_its_own() -> None:
    lengths = np.array([2, 3, 3, 4, 9, 20])
    assert [lengths[part].tolist() for part in batches(lengths, 8)] == [[2, 3, 3], [4], [9], [20]]
    assert list(batches(lengths[:0], 8)) == []


def test_small_windows_and_batches_change_no_score(bert: Weights, texts: Texts) -> None:
    engine = start_engine(bert, 2, "fp32", Where("cpu"))
    whole = scored(engine, texts)
    assert engine.tally.texts == len({*texts[0], *(text for some in texts[1] for text in some)})
    small = Engine([Encoder(bert, 2, "fp32", "cpu", TopLayer())])
    small.encoders[0].batch = 10
    windows = plan_windows(*texts, 100)
    from billboards.metrics.neural.matching import match_window

    weights = even_weights(small.tokenizer)
    done = small.run(windows, lambda window, embedded: match_window(window, embedded, weights))
    assert len(done) > 5
    best = np.zeros_like(whole)
    for items, found in done:
        np.maximum.at(best, items, found.double().numpy())
    np.testing.assert_allclose(best, whole, atol=1e-6)


def test_two_devices_share_the_windows_and_give_the_same_scores(bert: Weights, texts: Texts) -> None:
    one, two = (start_engine(bert, 2, "fp32", Where(named)) for named in ("cpu", "cpu,cpu"))
    assert [str(encoder.device) for encoder in two.encoders] == ["cpu", "cpu"]
    many = texts[0] * 300, texts[1] * 300
    varied = [f"{text} {'a ' * (k % 9)}" for k, text in enumerate(many[0])], many[1]
    np.testing.assert_allclose(scored(two, varied), scored(one, varied), atol=1e-6)
    assert (two.tally.texts, two.tally.tokens) == (one.tally.texts, one.tally.tokens)


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'gpu' is no device"):
        find_devices("gpu")
    with pytest.raises(InvalidInput, match="there is no device cuda:99 here"):
        find_devices("cpu,cuda:99")


def test_a_batch_that_does_not_fit_is_halved_until_it_does() -> None:
    sizes = []

    def work(items: Any) -> Any:
        sizes.append(len(items))
        if len(items) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return torch.from_numpy(items[:, None] * 2)

    assert halve_until_it_fits(np.arange(10), work).ravel().tolist() == list(range(0, 20, 2))
    assert sizes == [10, 5, 2, 3, 5, 2, 3]


def test_what_does_not_fit_alone_fails_and_other_errors_are_not_retried() -> None:
    def never_fits(_: Any) -> Any:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 byte")

    def broken(_: Any) -> Any:
        raise RuntimeError("shapes differ")

    with pytest.raises(MetricFailed, match="memory doesn't suffice for a single text"):
        halve_until_it_fits(np.arange(4), never_fits)
    with pytest.raises(RuntimeError, match="shapes differ"):
        halve_until_it_fits(np.arange(4), broken)


class TightEncoder(Encoder):
    """An encoder on a device that holds the embeddings of 60 tokens."""

    def _room(self, tokens: int) -> Any:
        if tokens > 60:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return super()._room(tokens)


def test_a_window_whose_embeddings_do_not_fit_is_halved(bert: Weights, texts: Texts) -> None:
    tight = Engine([TightEncoder(bert, 2, "fp32", "cpu", TopLayer())])
    roomy = start_engine(bert, 2, "fp32", Where("cpu"))
    np.testing.assert_allclose(scored(tight, texts), scored(roomy, texts), atol=1e-6)


@pytest.mark.parametrize(("precision", "readout"), [("fp32", TopLayer()), ("bf16", TopLayer()), ("fp32", AllLayers())])
def test_embeddings_kept_on_disk_are_used_again(
    bert: Weights, texts: Texts, tmp_path: Path, precision: Any, readout: Any
) -> None:
    first, second = (start_engine(bert, 2, precision, Where("cpu", tmp_path), readout) for _ in range(2))
    fresh = scored(first, texts)
    assert (first.tally.cached, first.tally.texts) == (0, first.tally.texts)
    np.testing.assert_array_equal(scored(second, texts), fresh)
    assert second.tally.cached == second.tally.texts == first.tally.texts
    third = start_engine(bert, 2, precision, Where("cpu", tmp_path), readout)
    more = ["a new one", *texts[0]], [["the cat"], *texts[1]]
    np.testing.assert_allclose(scored(third, more)[..., 1:, :], fresh, atol=1e-6)
    assert third.tally.cached == third.tally.texts - 2


def test_embeddings_that_can_not_be_kept_are_an_error(bert: Weights, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreFailed, match="no embeddings can be kept here"):
        start_engine(bert, 2, "fp32", Where("cpu", tmp_path / "file"))


def test_kept_embeddings_that_were_damaged_are_an_error_that_says_to_delete_the_file(
    bert: Weights, texts: Texts, tmp_path: Path
) -> None:
    engine = start_engine(bert, 2, "fp32", Where("cpu", tmp_path))
    (kept,) = (path for path in tmp_path.rglob("*") if path.is_file())
    kept.write_bytes(b"damaged " * 1000)
    with pytest.raises(StoreFailed, match=rf"{kept.name}: embeddings can't be read: .*; delete the file"):
        scored(engine, texts)


def test_what_is_made_ahead_arrives_in_order_and_errors_arrive_with_it() -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise ValueError("no more")

    ahead = Ahead(items())
    assert [next(ahead) for _ in range(5)] == [0, 1, 2, 3, 4]
    for _ in range(2):
        with pytest.raises(ValueError, match="no more"):
            next(ahead)


def test_nothing_more_is_made_after_a_stop() -> None:
    made, go = [], threading.Event()

    def items() -> Iterator[int]:
        for k in range(1_000):
            made.append(k)
            yield k

    ahead = Ahead(items(), depth=2)
    assert next(ahead) == 0
    ahead.stop()
    assert list(ahead) == []
    go.wait(0.5)
    assert len(made) < 10


def test_long_texts_are_cut_where_the_model_ends_and_counted(bert: Weights) -> None:
    engine = start_engine(bert, 2, "fp32", Where("cpu"))
    words = " ".join(["cat"] * 200)
    found = scored(engine, ([words, words + " dog", "cat"], [[words]] * 3))
    assert engine.tokenizer.limit == 64
    assert engine.tally.cut == 2
    assert found[1].tolist() == pytest.approx(found[0].tolist())


def test_a_tokenizer_that_adds_nothing_leaves_an_empty_text_without_tokens(bert: Weights, tmp_path: Path) -> None:
    import json

    for file in bert.folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    bare = json.loads((tmp_path / "tokenizer.json").read_text("utf-8")) | {"post_processor": None}
    (tmp_path / "tokenizer.json").write_text(json.dumps(bare), "utf-8")
    engine = start_engine(Weights(str(tmp_path), tmp_path), 2, "fp32", Where("cpu"))
    found = scored(engine, (["", "the cat", "a dog"], [["a cat"], [""], ["a dog"]]))
    assert found.tolist() == [[0, 0, 0], [0, 0, 0], pytest.approx([1, 1, 1])]
    assert scored(engine, ([""], [[" "]])).tolist() == [[0, 0, 0]]
    assert engine.tally.empty == 2
