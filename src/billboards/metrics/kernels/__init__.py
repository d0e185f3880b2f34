"""Compiled inner loops of the lexical metrics, and what Python needs to call them."""
