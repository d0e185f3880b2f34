"""Write the demo board as a folder, score it with three metrics, and rank both its sides.

The judgments of the demo board are illustrative, so the numbers say nothing about real metrics.
"""

from __future__ import annotations

import billboards as bb
from billboards.demo.build import build_board

board = bb.save(build_board(), "demo-board")
bb.score(board, ["BLEU", "chrF", "ROUGE-L"])

result = bb.rank(board)
print(result)

ranking = result.value
best = ranking.metrics[0]
print(f"{best.name} agrees best with the judgments: {best.correlation:.3f} on {best.n} outputs.")
for standing in ranking.generators[:3]:
    print(standing.rank, standing.name, standing.kind)

weather = bb.rank(board, part=bb.Slice(domain="weather")).value
print(f"On weather alone, it is {weather.metrics[0].name}.")
