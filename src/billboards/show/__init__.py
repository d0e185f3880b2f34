"""Results made readable: one neutral table or chart, and every format that renders it."""
