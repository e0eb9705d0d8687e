"""Make the two small tables that ROCR and Priori both average: ratings of six readers, and scores of eight sets.

Every reader gives every rating to both classes at least once, so that no curve has a vertical or horizontal line
and nothing depends on how such lines are read: there the averages must be equal. The other table has them.
"""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def write(name, rows):
    lines = ["dataset,label,score", *(",".join(map(str, row)) for row in rows)]
    (HERE / name).write_text("\n".join(lines) + "\n")


rng = np.random.default_rng(20)
ratings = []
for reader in range(1, 7):
    for label, chances in ((0, [0.4, 0.25, 0.15, 0.12, 0.08]), (1, [0.08, 0.12, 0.2, 0.25, 0.35])):
        given = [1, 2, 3, 4, 5, *rng.choice([1, 2, 3, 4, 5], size=20 + 5 * reader, p=chances)]
        ratings += [(f"reader{reader}", label, value) for value in given]
write("ratings.csv", ratings)

scores = []
for part in range(1, 9):
    negatives, positives = rng.integers(20, 60, 2)
    scores += [(f"set{part}", 0, value) for value in rng.normal(0, 1, negatives).round(4)]
    scores += [(f"set{part}", 1, value) for value in rng.normal(1 + 0.2 * part, 1, positives).round(4)]
write("scores.csv", scores)
