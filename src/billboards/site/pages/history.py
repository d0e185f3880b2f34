"""What a board has said and fitted: its ensembles, its past rankings, and how correlations moved between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from billboards.analyses.ensemble import ENSEMBLE, Ensemble, ensemble_table, unseen_words
from billboards.analyses.rank import Ranking, best_metric
from billboards.errors import InvalidInput, UnknownName
from billboards.reading import shown, whole_number
from billboards.show.documents import document_of, dumps
from billboards.show.words import one_line, value_text
from billboards.site.boards import snapshots
from billboards.site.boards.snapshots import Place
from billboards.site.pages.board import cause_words
from billboards.site.pages.long_lists import read_before, write_before
from billboards.site.pages.timelines import Timeline, bump_chart, timeline
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: Rankings or ensembles on a page, and lines in its chart.
PAGE, MOST_LINES = 50, 12


def show_rankings(ask: Ask) -> Body:
    """Every ranking of a board, the latest first."""
    look = ask.look()
    named = ask.query.get("before") or ""
    start = whole_number(named)
    if named and start is None:
        raise InvalidInput(f"a ranking is called by its number; found {shown(named)}")
    with ask.site.database.reading() as connection:
        kept = snapshots.list_snapshots(connection, look.name, look.past_audience, before=start, limit=PAGE + 1)
        whose, since = look.past_audience, look.first_step
        places = snapshots.history(connection, look.name, "metric", audience=whose, since=since)
        ranks = snapshots.history(connection, look.name, "generator", audience=whose, since=since)
    listed = kept[:PAGE]
    return ask.board_page(
        "rankings",
        look,
        "rankings",
        heading="History",
        rankings=[
            {"snapshot": snapshot, "cause": cause_words(snapshot), "moves": len(snapshot.moves)} for snapshot in listed
        ],
        older=addresses.board(look.name, "rankings", before=listed[-1].number) if len(kept) > PAGE else None,
        timeline=correlations_over_time(look.masked_places(places, "metric")),
        bumps=bump_chart(look.masked_places(ranks, "generator"), ask.query.get("line") or ""),
        since=look.first_step,
        days=ask.site.settings.retention.ranking_days,
    )


def correlations_over_time(places: Sequence[Place]) -> Timeline | None:
    """How each metric's correlation moved; the best dozen, the ensemble in front."""
    numbers = sorted({place.number for place in places})
    values: dict[str, dict[int, float | None]] = defaultdict(dict)
    for place in places:
        values[place.name][place.number] = place.value
    last = {name: [v for _, v in sorted(line.items()) if v is not None][-1:] for name, line in values.items()}
    best = sorted((name for name in values if last[name]), key=lambda name: (name != ENSEMBLE, -last[name][0]))
    chosen = best[:MOST_LINES]
    return timeline({n: [values[n].get(k) for k in numbers] for n in chosen}, numbers, first=ENSEMBLE)


async def lead_to_changes(request: Request) -> Response:
    """From the choice of two rankings to the later one, compared with the other."""
    board, query = request.path_params["board"], request.query_params
    return RedirectResponse(addresses.board(board, "rankings", query.get("ranking") or "", since=query.get("since")))


def show_ensembles(ask: Ask) -> Body:
    """Every ensemble ever fitted, the latest first."""
    look = ask.look()
    before = read_before(ask.query)
    with ask.site.database.reading() as connection:
        hidden = look.live.audience == "owners"
        kept = snapshots.list_ensembles(connection, look.name, hidden=hidden, before=before, limit=PAGE + 1)
    shown = [(look.masked_ensemble(ensemble), created) for ensemble, created in kept[:PAGE]]
    last = write_before(shown[-1][1], shown[-1][0].signature) if len(kept) > PAGE else None
    now = None if look.ranking is None else look.ranking.ensemble
    return ask.board_page(
        "ensembles",
        look,
        "ensembles",
        heading="Ensembles",
        now=None if now is None else _facts(now),
        compared="" if look.ranking is None else compared_words(look.ranking),
        alternative=None
        if look.ranking is None or look.ranking.alternative is None
        else _facts(look.ranking.alternative),
        table=None if now is None else ensemble_table(now),
        links={} if now is None else {("name", name): addresses.metric(look.name, name) for name in now.inputs},
        ensembles=[{**_facts(ensemble), "created": created} for ensemble, created in shown],
        older=None if last is None else addresses.board(look.name, "ensembles", before=last),
    )


def compared_words(ranking: Ranking) -> str:
    """Whether the ensemble agrees better with people than the best metric alone."""
    ensemble, best = ranking.ensemble, best_metric(ranking)
    if ensemble is None or ensemble.correlation is None or best is None or best.correlation is None:
        return ""
    alone = f"{one_line(best.name)} alone reaches {value_text(best.correlation, 3)}"
    if value_text(ensemble.correlation, 3) == value_text(best.correlation, 3):
        return f"{alone}, as much as the ensemble."
    better = ensemble.correlation > best.correlation
    return f"{alone}: the ensemble agrees {'better' if better else 'worse'} with people than the best metric."


def _facts(ensemble: Ensemble) -> dict[str, Any]:
    return {
        "signature": ensemble.signature,
        "combination": ensemble.formula,
        "correlation": value_text(ensemble.correlation, 3),
        "n": ensemble.n,
        "method": ensemble.method,
        "unseen": unseen_words(ensemble),
        "within": None if ensemble.within is None else value_text(ensemble.within, 3),
    }


def send_ensemble(ask: Ask) -> Body:
    """An ensemble as a document that recomputes it."""
    look, name = ask.look(), ask.params["signature"].removesuffix(".json")
    with ask.site.database.reading() as connection:
        kept = snapshots.list_ensembles(connection, look.name, hidden=look.live.audience == "owners")
    ensembles = {ensemble.signature: ensemble for ensemble, _ in kept}
    ensembles |= {ensemble.short_signature: ensemble for ensemble, _ in kept}
    if name not in ensembles:
        raise UnknownName("ensemble", name, ensembles)
    return Body(dumps(document_of(look.masked_ensemble(ensembles[name]))).encode(), "application/json")


router.add_route("/boards/{board}/rankings", reading(show_rankings, words=("before", "line")), include_in_schema=False)
router.add_route("/boards/{board}/changes", lead_to_changes, include_in_schema=False)
router.add_route("/boards/{board}/ensembles", reading(show_ensembles, words=("before",)), include_in_schema=False)
router.add_route("/boards/{board}/ensembles/{signature:path}", reading(send_ensemble), include_in_schema=False)
