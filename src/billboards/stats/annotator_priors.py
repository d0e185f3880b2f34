"""Priors of annotators' accuracy (GENIE, Appendix B.1): two that know nothing, two that are fixed, and learned ones.

A learned prior is a mixture of betas fitted to the annotators' own answers, beside 40 pseudo-annotators of 20 questions
each who keep the fit in place where there are few real ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from billboards.stats.annotator_results import AnnotatorModel, BetaMixture
from billboards.stats.beta_mixture import fit_beta_mixture, whole_counts

JEFFREYS = BetaMixture((1.0,), (0.5,), (0.5,))
UNIFORM = BetaMixture((1.0,), (1.0,), (1.0,))
FIXED_1 = BetaMixture((1.0,), (4.0,), (1.0,))
FIXED_2 = BetaMixture((0.05, 0.95), (0.5, 9.5), (4.5, 0.5))

#: 36 who had 19 of 20 questions right, and four noisy ones.
PSEUDO_RIGHT = np.array([19] * 36 + [1, 1, 5, 10])
PSEUDO_WRONG = 20 - PSEUDO_RIGHT

_GIVEN = {("jeffreys", 1): JEFFREYS, ("uniform", 1): UNIFORM, ("fixed", 1): FIXED_1, ("fixed", 2): FIXED_2}


def prior_of(model: AnnotatorModel, right: ArrayLike, wrong: ArrayLike) -> BetaMixture:
    """The prior that a model asks for; a learned one is fitted to these annotators' right and wrong answers."""
    if model.prior != "learned":
        return _GIVEN[model.prior, model.components]
    return learned_prior(right, wrong, components=model.components, seed=model.seed)


def learned_prior(right: ArrayLike, wrong: ArrayLike, *, components: int = 2, seed: int = 0) -> BetaMixture:
    """A mixture of betas fitted to annotators and pseudo-annotators, all of one task and one kind of questions."""
    return fit_beta_mixture(
        np.concatenate([whole_counts(right), PSEUDO_RIGHT]),
        np.concatenate([whole_counts(wrong), PSEUDO_WRONG]),
        components=components,
        seed=seed,
    )
