"""Metrics that ask a large language model: what is asked, how it is asked, and how its answers are read and kept."""
