"""Attacks are played on small sites."""

from site_fixtures import harbour, make_harbour, metric_zip

__all__ = ["harbour", "make_harbour", "metric_zip"]
