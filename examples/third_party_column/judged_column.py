"""How many outputs of each generator people judged, as a column of the board page."""

from billboards.analyses.rank import GeneratorStanding
from billboards.site.pages.columns import board_column


@board_column("judged outputs", "How many outputs of the generator people judged.")
def judged(standing: GeneratorStanding) -> float | None:
    return float(standing.judged) if standing.judged else None
