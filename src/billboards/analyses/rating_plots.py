"""Charts about people's ratings: scores by day or campaign, and what designs leave to chance (GENIE, Figs. 2, 3)."""

from __future__ import annotations

import altair as alt

from billboards.analyses.rating_results import AnnotatorAgreementStudy, DesignStudy
from billboards.analyses.rating_tables import design_words
from billboards.errors import NotEnoughData
from billboards.show.plot import PALETTES, ROW, WIDTH, Theme, role_colour, themed
from billboards.show.words import one_line


def population_scores(study: AnnotatorAgreementStudy, *, theme: Theme = "light") -> alt.LayerChart:
    """The score of each day or campaign with its 95% interval, beside that of all labels, dimension by dimension."""
    if not study.populations:
        raise NotEnoughData(f"{study.source}: no ratings are told apart by {study.by or 'day'}; nothing to draw")
    colours = PALETTES[theme]
    rows = [
        {
            "name": one_line(f"{one.dimension}, {one.population}"),
            "score": one.score,
            "low": one.score_interval[0],
            "high": one.score_interval[1],
            "role": "all labels" if one.population == "all" else f"one {study.by}",
        }
        for whole in study.dimensions
        for one in (whole, *(part for part in study.populations if part.dimension == whole.dimension))
    ]
    names = [row["name"] for row in rows]
    roles = role_colour({"all labels": colours.accent, f"one {study.by}": colours.people})
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=True))
    base = alt.Chart(alt.InlineData(values=rows))
    whiskers = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q"), y, alt.X2("high:Q"), roles)
    x = alt.X("score:Q", title="mean score, 0-100", scale=alt.Scale(zero=False))
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(x, y, roles)
    chart = (whiskers + dots).properties(width=WIDTH, height=ROW * len(rows))
    words = "; ".join(f"{row['name']} {row['score']:.1f}" for row in rows)
    title = f"{study.source}: scores by {study.by}"
    return themed(chart, theme, title, "Lines are 95% intervals over resampled outputs.", words)


def design_spread(study: DesignStudy, *, theme: Theme = "light") -> alt.LayerChart:
    """The standard deviation of every design: items drawn anew, and between random halves of the labels."""
    colours = PALETTES[theme]
    points = []
    for one in study.designs:
        name = one_line(f"{one.dimension}: {design_words(one)}")
        points += [
            {"name": name, "sd": one.sd, "role": "items and labels drawn"},
            {"name": name, "sd": one.days, "role": "between halves"},
        ]
    names = list(dict.fromkeys(point["name"] for point in points))
    roles = role_colour({"items and labels drawn": colours.accent, "between halves": colours.people})
    shapes = alt.Scale(domain=["items and labels drawn", "between halves"], range=["circle", "diamond"])
    y = alt.Y("name:N", sort=names, title=None, axis=alt.Axis(grid=True, labelLimit=260))
    x = alt.X("sd:Q", title="standard deviation of the score (0-1)")
    base = alt.Chart(alt.InlineData(values=points))
    dots = base.mark_point(filled=True, size=60, opacity=1).encode(
        x, y, roles, alt.Shape("role:N", scale=shapes, legend=None)
    )
    chart = alt.layer(dots).properties(width=WIDTH, height=ROW * len(names))
    least = min(study.designs, key=lambda one: one.sd)
    title = f"{study.source}, {least.dimension}: steadiest is {design_words(least)}"
    subtitle = "Circles: items and labels drawn anew. Diamonds: two halves of the labels on the same items."
    return themed(chart, theme, title, subtitle, "; ".join(f"{p['name']} {p['sd']:.3f}" for p in points))
