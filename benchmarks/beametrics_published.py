"""The cells of BEAMetrics' Tables 2, 3, 5 and 6 (Scialom and Hill 2021) for the data sets and metrics at hand.

Tables 2 and 3 are Pearson's r, 5 and 6 Kendall's tau, all × 100; 2 and 5 are of correctness. The first column is the
block: Max (all references), 1 (one) or 0 (none). A dash stands where the paper has one.
"""

from __future__ import annotations

from functools import cache

CORRECTNESS = ("WMT", "Web", "Asv", "Fli", "mSu", "SumE", "OpQA")
OTHERS = ("Web flu", "Asv flu", "Asv sim", "mSu rel", "SumE rel", "SumE coh", "SumE flu", "OpQA obv")
COLUMNS = {2: CORRECTNESS, 3: OTHERS, 5: CORRECTNESS, 6: OTHERS}

#: Table 2's column of Pascal-50S, whose data are not at hand: block and row.
PASCAL = {
    ("Max", "ROUGE-1"): 52.3,
    ("Max", "ROUGE-L"): 52.0,
    ("Max", "BLEU"): 50.3,
    ("1", "ROUGE-1"): 43.4,
    ("1", "ROUGE-L"): 41.4,
    ("1", "BLEU"): 29.5,
}

_TABLES = {
    2: """
Max ROUGE-1    16.0   63.6   61.8   48.7   50.7   16.7   35.5
Max ROUGE-L    16.8   60.9   59.4   49.4   52.9   14.2   35.4
Max BLEU       15.5   61.3   47.6   52.0   48.0   11.7   10.8
Max METEOR     16.2   63.7   65.8   56.5   46.3   17.3   33.7
1   ROUGE-1    16.0   69.7   47.9   37.1   50.7   17.9   35.5
1   ROUGE-L    16.8   61.2   43.0   38.2   52.9   15.7   35.4
1   BLEU       15.5   53.6   29.9   32.2   48.0    7.0   10.8
1   METEOR     16.2   67.9   52.2   41.6   46.3   16.2   33.7
0   Abstr-1     1.4      -  -14.4      -      -  -19.3   -8.7
0   Abstr-3     1.3      -  -32.2      -      -  -35.2   13.4
0   Length      1.7   19.4   19.4  -16.2   -4.4    8.1   14.9
0   Repet-1     1.7   18.5   19.4  -16.2   -4.4    8.1   14.9
0   Repet-3     1.7   16.8   19.4  -16.2   -4.3    8.1   12.8
""",
    3: """
Max ROUGE-1    51.0   42.0   42.4   50.9   32.3   18.1   13.6   41.7
Max ROUGE-L    52.9   40.9   41.0   52.8   24.8   15.5   11.0   41.6
Max BLEU       54.2   28.9   29.5   49.6   29.0   25.0   13.9   12.0
Max METEOR     50.3   41.3   38.5   54.9   36.0   16.8   11.4   40.1
1   ROUGE-1    55.4   33.7   31.2   50.9   33.3   18.8   13.6   41.7
1   ROUGE-L    52.0   31.8   28.5   52.8   26.8   18.2   12.1   41.6
1   BLEU       43.8   25.6   23.5   49.6   20.8   13.0    6.9   12.0
1   METEOR     53.8   35.3   31.7   54.9   30.4   15.3   11.8   40.1
0   Abstr-1       -  -10.2   -7.5      -  -24.5  -27.2  -13.3   -5.4
0   Abstr-3       -  -22.7  -14.3      -  -31.0  -30.5  -26.8    9.6
0   Length     -1.7    2.5   -0.8   10.5   26.6    8.6   -2.9   11.0
0   Repet-1    -2.8    2.5   -0.8   10.5   26.6    8.6   -2.9   11.0
0   Repet-3    -5.0    2.5   -0.8   10.6   26.6    8.6   -2.9   10.2
""",
    5: """
Max ROUGE-1    12.6   44.3   43.6   32.0   31.6   10.5   32.7
Max ROUGE-2    12.0   46.7   37.0   32.4   31.4   10.1   21.7
Max ROUGE-L    13.1   44.0   41.2   31.6   31.8    9.1   32.7
Max BLEU       12.3   48.8   32.6   33.7   26.3    8.0   10.8
Max METEOR     12.7   46.2   46.3   38.1   26.4   12.5   32.9
1   ROUGE-1    12.6   49.2   32.0   24.4   31.6   12.2   32.7
1   ROUGE-2    12.0   45.0   27.9   23.1   31.4   11.1   21.7
1   ROUGE-L    13.1   43.8   28.7   24.1   31.8   11.1   32.7
1   BLEU       12.3   44.8   23.0   19.5   26.3    5.5   10.8
1   METEOR     12.7   49.1   35.7   27.0   26.4   11.8   32.9
0   Abstr-1     1.4      -   -8.1      -      -  -12.6    2.6
0   Abstr-2     1.6      -  -21.1      -      -  -22.7   12.1
0   Abstr-3     1.6      -  -21.5      -      -  -24.7   13.7
0   Length      1.3   15.1   18.3   -8.7   -1.5    7.5   12.4
0   Repet-1     1.2   14.8   17.3   -8.7   -1.5    7.2   12.4
0   Repet-2     1.2   14.9   18.1   -8.7   -1.5    7.3   12.4
0   Repet-3     1.3   15.0   18.1   -8.7   -1.4    7.4   13.7
""",
    6: """
Max ROUGE-1    33.5   30.5   32.2   32.5   20.9   12.3    6.2   37.2
Max ROUGE-2    36.4   24.8   27.4   32.9   16.7    9.7    4.8   26.1
Max ROUGE-L    36.8   28.6   30.0   32.4   16.5   11.3    6.1   37.1
Max BLEU       41.6   19.7   21.1   27.9   20.8   16.7    8.8    9.6
Max METEOR     34.6   26.9   26.2   31.4   22.3   11.6    7.0   38.1
1   ROUGE-1    36.7   22.4   21.1   32.5   23.5   12.0    7.4   37.2
1   ROUGE-2    34.1   18.9   19.5   32.9   18.3    9.5    6.6   26.1
1   ROUGE-L    35.4   21.4   20.2   32.4   19.3   12.0    8.6   37.1
1   BLEU       34.9   19.3   19.6   27.9   18.1    8.8    3.4    9.6
1   METEOR     36.9   23.6   22.9   31.4   21.6   10.4    8.0   38.1
0   Abstr-1       -   -7.0   -1.2      -  -17.9  -19.0  -10.1    2.6
0   Abstr-2       -  -13.9   -8.5      -  -21.5  -22.3  -16.2    8.8
0   Abstr-3       -  -13.9   -9.9      -  -21.7  -22.0  -17.7   10.1
0   Length     -2.6    4.7    3.6    7.1   18.2    6.4   -0.6    8.9
0   Repet-1    -3.1    4.1    3.0    7.0   17.9    6.1   -0.8    8.9
0   Repet-2    -3.0    4.7    3.5    7.0   17.9    6.0   -0.7    8.9
0   Repet-3    -2.9    4.6    3.5    7.0   18.0    6.2   -0.6   10.1
""",
}

Cell = tuple[int, str, str, str]


@cache
def published() -> dict[Cell, float]:
    """Every cell by table, block, row and column."""
    found: dict[Cell, float] = {}
    for table, text in _TABLES.items():
        for line in text.strip().splitlines():
            block, row, *values = line.split()
            for column, value in zip(COLUMNS[table], values, strict=True):
                if value != "-":
                    found[table, block, row, column] = float(value)
    return found
