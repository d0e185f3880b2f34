"""What can be asked of a board: one file for each question."""
