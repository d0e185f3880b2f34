"""Generators and metrics that are sent in."""
