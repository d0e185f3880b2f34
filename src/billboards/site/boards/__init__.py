"""Boards on a site: the live board, what each audience may see of it, and its rankings."""
