"""Public and private agreement: plain formulas, honest metrics left alone, look-ups exposed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, pearsonr

from billboards.errors import InvalidInput, NotEnoughData
from billboards.stats.exposure import _beside_others, compare_shares, private_documents

Floats = np.ndarray


def board(
    seed: int, *, metrics: int = 6, rows: int = 6, documents: int = 40, each: int = 3
) -> tuple[Floats, Floats, list[str]]:
    """Scores that share a part with people's judgments; outputs of one document are alike."""
    random = np.random.default_rng(seed)
    names = [f"d{k // each}" for k in range(documents * each)]
    ease = np.repeat(random.normal(size=documents), each)
    human = ease + random.normal(size=(rows, documents * each))
    scores = human + random.normal(size=(metrics, 1, 1)) ** 2 + 1.5 * random.normal(size=(metrics, *human.shape))
    return scores, human, names


def test_shares_are_whole_documents_of_about_the_size_asked_for() -> None:
    names = [f"d{k // 7}" for k in range(700)]
    private = private_documents(names, 0.3, seed=1)
    assert private.mean() == pytest.approx(0.3, abs=0.01)
    assert all(len({bool(p) for p, n in zip(private, names, strict=True) if n == name}) == 1 for name in set(names))
    assert (private == private_documents(names, 0.3, seed=1)).all()
    assert (private != private_documents(names, 0.3, seed=2)).any()
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        private_documents(names, 1.0, seed=1)


def test_agreement_is_pearson_on_each_share() -> None:
    scores, human, names = board(1)
    human[0, :50] = np.nan
    private = private_documents(names, 0.4, seed=3)
    shares = compare_shares(scores, human, names, private, deals=50)
    for k, metric in enumerate(scores):
        for r, n, side in ((shares.public, shares.public_n, ~private), (shares.private, shares.private_n, private)):
            x, y = metric[:, side].ravel(), human[:, side].ravel()
            used = np.isfinite(y)
            assert r[k] == pytest.approx(pearsonr(x[used], y[used]).statistic, abs=1e-12)
            assert n[k] == used.sum()


def test_the_middle_of_the_others_is_their_median() -> None:
    differences = np.random.default_rng(1).normal(size=(5, 7))
    differences[1, 2] = differences[3, :5] = np.nan
    for row, given in zip(differences, _beside_others(differences), strict=True):
        for k, value in enumerate(row):
            expected = value - np.nanmedian(np.delete(row, k)) if np.isfinite(value) else np.nan
            assert given[k] == pytest.approx(expected, nan_ok=True)
    assert _beside_others(np.array([[0.3]])).tolist() == [[0.3]]


def test_honest_metrics_have_p_values_that_are_spread_evenly() -> None:
    p = []
    for seed in range(200):
        scores, human, names = board(seed, metrics=3, documents=20, each=2)
        p.append(compare_shares(scores, human, names, private_documents(names, 0.4, seed), deals=199, seed=seed).p[0])
    assert kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
def test_a_look_up_of_published_judgments_is_exposed_and_the_others_are_not(noise: float) -> None:
    scores, human, names = board(5, documents=60)
    private = private_documents(names, 0.4, seed=9)
    random = np.random.default_rng(6)
    seen = human + noise * random.normal(size=human.shape)
    scores[2] = np.where(private, scores[2], seen)
    shares = compare_shares(scores, human, names, private, seed=1)
    assert shares.corrected[2] < 0.01
    assert (np.delete(shares.corrected, 2) > 0.05).all()


def test_one_share_that_is_easier_moves_all_and_exposes_nobody() -> None:
    scores, human, names = board(7, documents=60)
    private = private_documents(names, 0.4, seed=9)
    noise = np.random.default_rng(8).normal(size=human.shape)
    human = np.where(private, human + 1.5 * noise, human)
    shares = compare_shares(scores, human, names, private, seed=1)
    assert (shares.public - shares.private > 0.05).all()
    assert (shares.corrected > 0.05).all()


def test_metrics_without_agreement_have_none_and_do_not_disturb() -> None:
    scores, human, names = board(2)
    scores[1] = 3.0
    shares = compare_shares(scores, human, names, private_documents(names, 0.4, 1), deals=99)
    assert np.isnan([shares.public[1], shares.private[1], shares.excess[1], shares.p[1]]).all()
    assert np.isfinite(np.delete(shares.p, 1)).all()


def test_what_cannot_be_dealt_is_refused() -> None:
    scores, human, names = board(2)
    with pytest.raises(InvalidInput, match="as a whole"):
        compare_shares(scores, human, names, np.arange(len(names)) % 2 == 0)
    with pytest.raises(NotEnoughData, match="judgments of 5 documents"):
        compare_shares(scores, human, names, np.array([name == "d0" for name in names]))
