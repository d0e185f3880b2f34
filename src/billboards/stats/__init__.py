"""Pure functions on arrays: a matrix of scores in, a named result out. No files, no databases, no names of metrics."""
