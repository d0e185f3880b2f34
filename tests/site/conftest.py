"""Small sites for the tests of this folder."""

from site_fixtures import harbour, make_harbour, metric_zip

__all__ = ["harbour", "make_harbour", "metric_zip"]
