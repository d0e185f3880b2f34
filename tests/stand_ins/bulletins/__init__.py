"""An invented board: 48 bulletins of an imaginary coast, with programs that write and judge them.

Everything a board needs is here and small enough to read: records and human texts in `data/`, eight generators as
short programs, and a rubric that stands in for annotators. The judgments are illustrative: a program made them.
"""
