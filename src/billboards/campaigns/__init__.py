"""Judgments by people: templates, campaigns, test questions, what they cost, and where annotators come from."""
