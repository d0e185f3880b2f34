"""Results made readable: tables for the terminal, CSV, LaTeX and JSON, charts, and one self-contained HTML page.

Every result becomes one neutral `Table` first, and each format renders that. Nothing is computed here that a result
does not already hold, and rich, altair and vl-convert are only imported when something is drawn.
"""
