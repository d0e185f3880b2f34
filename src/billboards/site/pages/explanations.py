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
        what="The mean human score of a generator's outputs: from 0 to 100 where the scale of the judgments is known.",
        reading="More is better. Point at a number for its interval and how many judgments it rests on.",
        caution="With few annotators or few instances the interval is wide, and a difference may hold only for them.",
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
        caution="It needs judged texts that people wrote. One writer does not stand for all people.",
    ),
    "weight": Explanation(
        name="Weight in the ensemble",
        what="How much a metric counts in the ensemble that predicts human scores.",
        reading="The score rises by this much when the metric rises by one standard deviation.",
        caution="Metrics that measure the same share their weight. A weight of 0 doesn't make a metric bad.",
    ),
    "with_ensemble": Explanation(
        name="Correlation with the ensemble",
        what="How closely a metric's scores follow the ensemble's, over all outputs that both score.",
        reading="Near 1 it says what the ensemble says; near 0 it says something else.",
        caution="It is no agreement with people: a metric may follow the ensemble where both are wrong.",
    ),
    "speed": Explanation(
        name="Time per output",
        what="The seconds that scoring one output took here, on average over all generators.",
        reading="Less is quicker. It includes everything but the first loading of a model.",
        caution="It depends on this machine and on what else it did; compare orders of magnitude.",
    ),
    "price": Explanation(
        name="Price",
        what="US dollars for 1,000 outputs, as the metric's or the generator's authors state it.",
        reading="Less is cheaper. A dash means that nobody stated it, not that it is free.",
        caution="Nobody here checks it, and prices change.",
    ),
    "parameters": Explanation(
        name="Parameters",
        what="How many trained numbers the model behind a metric or a generator has, as its authors state it.",
        reading="M is a million, B a thousand million. Fewer run on smaller machines.",
        caution="It is no measure of quality, nor of speed: models of one size may differ much in both.",
    ),
    "front": Explanation(
        name="Pareto front",
        what="Entries that no other beats: none is as good for less, and none is better for the same cost.",
        reading="Choose among these by what you can afford; everything else is beaten by one of them.",
        caution="It rests on stated costs, and small differences in quality may be chance.",
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
        caution="Members of a cluster need not be equal: more data may separate them.",
    ),
    "interval": Explanation(
        name="95% interval",
        what="The values that fit the data, from resampling instances or documents.",
        reading="A short interval is a sure number. Intervals that overlap may still differ significantly.",
        caution="It says nothing about another data set or other annotators.",
    ),
}
