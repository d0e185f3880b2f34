"""Bidimensional leaderboards: rank text generators and the metrics that judge them, hand in hand."""
