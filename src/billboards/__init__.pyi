"""The public names; written by tools/public_names.py."""

from billboards import analyses as analyses
from billboards import stats as stats
from billboards.analyses._analysis import Result as Result
from billboards.analyses._arrays import rank_metrics as rank_metrics
from billboards.analyses._report import report as report
from billboards.analyses._view import View as View
from billboards.analyses.agreement import agreement as agreement
from billboards.analyses.arena import arena as arena
from billboards.analyses.audit import audit as audit
from billboards.analyses.audit import audit as audit_metrics
from billboards.analyses.card import card as card
from billboards.analyses.challenge import challenge as challenge
from billboards.analyses.compare import compare as compare
from billboards.analyses.compare import compare as compare_all
from billboards.analyses.decompose import decompose as decompose
from billboards.analyses.efficiency import efficiency as efficiency
from billboards.analyses.ensemble import ensemble as ensemble
from billboards.analyses.estimate import estimate as estimate
from billboards.analyses.hybrids import hybrids as hybrids
from billboards.analyses.next import next as next
from billboards.analyses.overrating import overrating as overrating
from billboards.analyses.power import power as power
from billboards.analyses.published import published as published
from billboards.analyses.rank import rank as rank
from billboards.analyses.ratings.agreement import agreement as ratings_agreement
from billboards.analyses.ratings.consensus import consensus as ratings_consensus
from billboards.analyses.ratings.days import days as ratings_days
from billboards.analyses.ratings.designs import designs as ratings_designs
from billboards.analyses.ratings.doubts import doubts as ratings_doubts
from billboards.analyses.ratings.severity import severity as ratings_severity
from billboards.analyses.references import references as references
from billboards.analyses.sensitivity import sensitivity as sensitivity
from billboards.analyses.spans import spans as spans
from billboards.analyses.suite.open import open_suite as open_suite
from billboards.analyses.trust import trust as trust
from billboards.analyses.watch import watch as watch
from billboards.api.board_scores import score as score
from billboards.api.boards import get as get
from billboards.api.boards import import_board as import_board
from billboards.api.boards import open as open
from billboards.api.boards import save as save
from billboards.api.claims import verify as verify
from billboards.api.texts import score_texts as score_texts
from billboards.board import Board as Board
from billboards.board import Generator as Generator
from billboards.board import Instance as Instance
from billboards.board import Reference as Reference
from billboards.board import Slice as Slice
from billboards.errors import BillboardsError as BillboardsError
from billboards.metrics.base import Batch as Batch
from billboards.metrics.base import Metric as Metric
from billboards.metrics.base import MetricCard as MetricCard
from billboards.metrics.discovery import metric as metric

__all__ = [
    "Batch",
    "BillboardsError",
    "Board",
    "Generator",
    "Instance",
    "Metric",
    "MetricCard",
    "Reference",
    "Result",
    "Slice",
    "View",
    "agreement",
    "analyses",
    "arena",
    "audit",
    "audit_metrics",
    "card",
    "challenge",
    "compare",
    "compare_all",
    "decompose",
    "efficiency",
    "ensemble",
    "estimate",
    "get",
    "hybrids",
    "import_board",
    "metric",
    "next",
    "open",
    "open_suite",
    "overrating",
    "power",
    "published",
    "rank",
    "rank_metrics",
    "ratings_agreement",
    "ratings_consensus",
    "ratings_days",
    "ratings_designs",
    "ratings_doubts",
    "ratings_severity",
    "references",
    "report",
    "save",
    "score",
    "score_texts",
    "sensitivity",
    "spans",
    "stats",
    "trust",
    "verify",
    "watch",
]
