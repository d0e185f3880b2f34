"""Metrics that read with a neural network: one encoder engine, and the metrics on top of it."""
