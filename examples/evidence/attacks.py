"""A verifier meets attacks: what a threshold chosen without them lets in (ASVspoof 2019, one speaker verifier)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb

import priori

FILE = "asvspoof2019_asv_3class/asvspoof2019_asv_3class.csv.gz"
TITLE = "A speaker verifier and attacks, ASVspoof 2019 LA"
PUBLISHED = (
    "the organisers' own verifier, scores in `project-NN-Pytorch-scripts` (BSD-3); no speakers are named, so intervals "
    "take trials for independent and are too narrow by an unknown amount."
)
PROTOCOL = (
    "The threshold minimises (FAR + FRR)/2 on development targets and other people's voices; attacks play no part in "
    "it. Judged on the evaluation set: the HTER without attacks, and the share of each attack that gets in (IAPMR)."
)


def attack_rows(data: Path) -> tuple[priori.EPC, list[dict[str, Any]]]:
    """Return the curve without attacks, and for all attacks together and each by itself the share that gets in."""
    base = duckdb.connect()
    base.execute("CREATE TABLE rows AS SELECT * FROM read_csv(?)", [str(data / FILE)])
    dev, test = (
        priori.Scores.from_frame(
            base.sql("SELECT score, label FROM rows WHERE set = ? AND label <> 'spoof'", params=[part]), source=part
        )
        for part in ("LA_dev", "LA_eval")
    )
    curve = priori.epc(dev, test, name="ASVspoof 2019 verifier")
    threshold = float(curve.at(0.5).threshold[0])
    rows = []
    attacks = [
        name
        for (name,) in base.execute(
            "SELECT DISTINCT attack FROM rows WHERE label = 'spoof' AND set = 'LA_eval' ORDER BY attack"
        ).fetchall()
    ]
    for title, chosen in [("all attacks", attacks), *((attack, [attack]) for attack in attacks)]:
        query = "SELECT score, label FROM rows WHERE set = 'LA_eval' AND (label = 'target' OR list_contains(?, attack))"
        scores = priori.Scores.from_frame(base.sql(query, params=[chosen]), pos_label="target", source=title)
        found = priori.rate_interval(scores, threshold, rate="far")
        rows.append(
            {
                "attack": title,
                "trials": scores.n_negatives,
                "iapmr": f"{found.rate:.4f}",
                "lower": f"{found.lower:.4f}",
                "upper": f"{found.upper:.4f}",
            }
        )
    return curve, rows
