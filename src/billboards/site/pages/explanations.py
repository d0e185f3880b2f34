"""What each number on the pages is: one text for tooltips, and for the help page that holds them all."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A number in three parts: what it is, how to read it, when not to trust it."""

    name: str
    what: str
    reading: str
    caution: str

    @property
    def lines(self) -> tuple[str, str, str]:
        return self.what, self.reading, self.caution


EXPLANATIONS = {
    "rank": Explanation(
        name="Rank",
        what="A generator's place by the metric that leads the board, or a metric's by its agreement with people.",
        reading="1= means a shared first place: a permutation test can't tell the members of such a cluster apart.",
        caution="Places inside a cluster are chance. Read the clusters, not the order inside them.",
    ),
    "people": Explanation(
        name="People",
        what="The mean human score of a generator's outputs, from 0 to 100.",
        reading="More is better. Point at a number for its interval and how many judgments it rests on.",
        caution="With few annotators or few instances the interval is wide, and a difference may be theirs alone.",
    ),
    "agreement": Explanation(
        name="Correlation with people",
        what="How well a metric's scores follow the human scores, over all judged outputs.",
        reading="1 is perfect, 0 is chance; below 0 it prefers what people don't. The interval says how sure it is.",
        caution="It mixes two questions: easy against hard instances, and good against bad outputs of one instance.",
    ),
    "within": Explanation(
        name="Agreement within items",
        what="The same, but only over pairs of outputs of one instance.",
        reading="It answers: given one input, does the metric prefer the output that people prefer?",
        caution="It needs several judged outputs for each instance; with two or three it is noisy.",
    ),
    "overrating": Explanation(
        name="Overrating of machines",
        what="By how many of its standard deviations a metric scores machines above people at equal human judgment.",
        reading="0 is neutral. Above 0 the metric favours machines, below 0 it favours people.",
        caution="It needs judged texts that people wrote. One human writer is one writer, not mankind.",
    ),
    "weight": Explanation(
        name="Weight in the ensemble",
        what="How much a metric counts in the ensemble that predicts human scores.",
        reading="The score rises by this much when the metric rises by one standard deviation.",
        caution="Metrics that say the same share their weight. A weight of 0 doesn't make a metric bad.",
    ),
    "ensemble": Explanation(
        name="Ensemble",
        what="A prediction of the human score from several metrics, fitted on judged outputs.",
        reading="Its correlation is measured on generators that the fit has not seen.",
        caution="It may be worse than the best metric alone; the board says so where it is.",
    ),
    "cluster": Explanation(
        name="Cluster",
        what="Neighbours in a ranking that a test can't tell apart at p ≤ .05.",
        reading="Members share a rank, written 1= or 4=.",
        caution="Not told apart doesn't mean equal: more data may part them.",
    ),
    "interval": Explanation(
        name="95% interval",
        what="The values that fit the data, from resampling instances or documents.",
        reading="A short interval is a sure number. Intervals that overlap may still differ significantly.",
        caution="It says nothing about another data set or other annotators.",
    ),
}
