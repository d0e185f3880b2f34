"""Results about people's ratings: agreement, designs, severity, consensus, estimates, and ratings worth a second look.

Each says where the ratings come from (a board or a file), which dimension they speak of, and on how much they rest.
What has no value is None.
"""

from __future__ import annotations

from billboards.analyses.estimate import EstimateStudy, Mean, NextItems
from billboards.analyses.ratings.agreement import AnnotatorAgreementStudy
from billboards.analyses.ratings.consensus import ConsensusStudy
from billboards.analyses.ratings.designs import DesignStudy
from billboards.analyses.ratings.doubts import ImplausibleStudy
from billboards.analyses.ratings.severity import SeverityStudy

RatingStudy = (
    AnnotatorAgreementStudy
    | DesignStudy
    | SeverityStudy
    | ConsensusStudy
    | EstimateStudy
    | NextItems
    | ImplausibleStudy
    | Mean
)
