"""What right and wrong answers say of an annotator, in closed form (GENIE, section 5).

Betas are conjugate to right and wrong answers: after r and w of them each component is Beta(α + r, β + w), and the
weights are those of the prior times how likely each component made the answers. Class and accuracy follow from that
without sampling; only the ends of an interval are searched for, by halving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.stats.annotator_results import AnnotatorModel, BetaMixture
from billboards.stats.beta_binomial import log_likelihood
from billboards.stats.beta_mixture import whole_counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Halvings of [0, 1], after which an end of an interval is known to 1e-12.
HALVINGS = 40
#: What rounding may add to a probability: one wrong answer under a uniform prior is 0.99, which is not above 0.99.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Posterior:
    """Mixtures of betas, one per annotator: weights, alphas and betas, each (annotators, components)."""

    weights: Floats
    alphas: Floats
    betas: Floats

    def mean(self) -> Floats:
        """Expected accuracy."""
        return np.asarray((self.weights * self.alphas / (self.alphas + self.betas)).sum(axis=1))

    def cdf(self, accuracy: ArrayLike) -> Floats:
        """The probability that the accuracy is at most this; one for all annotators, or one for each."""
        from scipy.special import betainc

        at = np.broadcast_to(np.asarray(accuracy, dtype=np.float64), len(self.weights))[:, None]
        return np.asarray((self.weights * betainc(self.alphas, self.betas, at)).sum(axis=1))

    def quantile(self, share: float) -> Floats:
        """The accuracy below which lies this share of each annotator's posterior."""
        from scipy.special import betaincinv

        if self.weights.shape[1] == 1:
            return np.asarray(betaincinv(self.alphas[:, 0], self.betas[:, 0], share))
        low, high = np.zeros(len(self.weights)), np.ones(len(self.weights))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below = self.cdf(middle) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray((low + high) / 2)


def posterior(mixture: BetaMixture, right: ArrayLike, wrong: ArrayLike) -> Posterior:
    """Each annotator's posterior under a prior."""
    rights, wrongs = whole_counts(right), whole_counts(wrong)
    alphas, betas = np.array(mixture.alphas), np.array(mixture.betas)
    size = alphas + betas
    log = log_likelihood(alphas / size, betas / size, 1 / (1 + size), rights, wrongs).T
    with np.errstate(divide="ignore"):
        log += np.log(mixture.weights)
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    return Posterior(weights / weights.sum(axis=1, keepdims=True), alphas + rights[:, None], betas + wrongs[:, None])


def probability_noisy(model: AnnotatorModel, mixture: BetaMixture, found: Posterior) -> Floats:
    """By class: not of the component whose mean is highest. By rate: of an accuracy that is not above the model's."""
    if model.criterion == "rate":
        return found.cdf(model.accuracy)
    return np.asarray(np.delete(found.weights, int(np.argmax(mixture.means)), axis=1).sum(axis=1))


def is_noisy(model: AnnotatorModel, mixture: BetaMixture, found: Posterior) -> NDArray[np.bool_]:
    """Whom the model marks: above the threshold by more than rounding, and not for being too good.

    Thousands of right answers don't fit a best component with a mean of .95 any better than wrong ones do, so by class
    their author belongs elsewhere; whose accuracy is expected to be above that mean is not noisy for it.
    """
    likely = probability_noisy(model, mixture, found) > model.threshold + ROUNDING
    return np.asarray(likely & ((found.mean() <= max(mixture.means)) | (model.criterion == "rate")))
