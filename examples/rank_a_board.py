"""Write the demo board (SummEval) as a folder, score it with three metrics, and rank both its sides."""

from __future__ import annotations

import billboards as bb
from billboards.demo import build_board

board = bb.save(build_board(), "demo-board")
bb.score(board, ["BLEU", "chrF", "ROUGE-L"])

result = bb.rank(board)
print(result)

ranking = result.value
best = ranking.metrics[0]
print(f"{best.name} agrees best with the experts: {best.correlation:.3f} on {best.n} outputs.")
for standing in ranking.generators[:3]:
    print(standing.rank, standing.name, standing.kind)

crowd = bb.rank(board, aggregate="crowd").value
print(f"Asked of the crowd, it is {crowd.metrics[0].name}.")
