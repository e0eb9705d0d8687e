"""The page beside other packages says what the records of validation/peers and validation/cimat say."""

from __future__ import annotations

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
EXAMPLES, MATCHING = PAGE.split("## One rate in 1:1 matching")


def record(folder: str) -> list[dict[str, str]]:
    with (ROOT / "validation" / folder / "record.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(part: str) -> list[list[str]]:
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_every_number_of_an_example_is_in_the_record() -> None:
    package, seen = "", set()
    for title, _, theirs, ours in table(EXAMPLES):
        package = title.split(",")[0].split()[0] if title else package
        rows = [row for row in record("peers") if row["peer"] == package]
        assert rows, package
        seen.add(package)
        assert rows[0]["version"] in title or not re.search(r"\d", title)
        for column, cell in (("theirs", theirs), ("ours", ours)):
            for value in cell.split("; "):
                assert any(row[column].startswith(value) for row in rows), (package, value)
    assert seen == {row["peer"] for row in record("peers")}


def test_the_coverage_beside_cimat_is_in_the_record() -> None:
    methods = ("priori: rate_interval", "priori: crossed, calibrated")
    methods += ("cimat: Wilson, plug-in", "cimat: Wilson, double-or-nothing")
    rows = record("cimat")
    for method, (_, *cells) in zip(methods, table(MATCHING), strict=True):
        for part, cell in zip(("FMR", "FNMR"), cells, strict=True):
            shares = [100 * float(row["measured"]) for row in rows if (row["method"], row["part"]) == (method, part)]
            assert cell == f"{min(shares):.1f} to {max(shares):.1f}"
    worst = min((r for r in rows if r["method"] == methods[1]), key=lambda row: float(row["measured"]))
    assert f"{100 * float(worst['measured']):.1f} % at FMR 1e-4 and 50 people" in " ".join(MATCHING.split())
    assert worst["population"].startswith("50 people")
