"""Mutation testing: small changes of the source, the tests that reach them, and whether any of those fails."""
