"""State below a board: cells computed here, and the ensembles and rankings that are kept for ever."""
