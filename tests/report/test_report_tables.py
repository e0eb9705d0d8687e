"""Tables for papers: the study's numbers, and no name that a reader or a compiler could take for markup."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import small_studies
from priori.report import render_csv, render_latex, render_markdown
from priori.report.tables import fixed_tables, moving_tables
from priori.studies.evaluation import Study

HOSTILE = ("a|b_c*d*`e`<script>&amp;[x](y)#$", r"\input{x} 50% & #1 ~^{} \\ $x_1$ é", "plain")


@pytest.fixture(scope="module")
def study() -> Study:
    return small_studies.study(2.5, 1.6, 2.0)


@pytest.fixture(scope="module")
def hostile() -> Study:
    return small_studies.study(2.5, 1.6, 2.0, names=HOSTILE, bootstrap=None)


def test_the_tables_hold_the_numbers(study: Study) -> None:
    tables = {table.key: table for table in [*moving_tables(study, 4), *fixed_tables(study)]}
    assert list(tables) == ["leaderboard", "operating-points", "outcomes", "comparisons", "along-alpha", "areas"]
    curve = study.curves[1]
    row = dict(zip(tables["operating-points"].header[6:], tables["operating-points"].rows[1][6:], strict=True))
    assert row["HTER"] == f"{100 * curve.value[4]:.2f} %"
    assert row["A posteriori"] == f"{100 * curve.best[4]:.2f} %"
    counts = [
        f"{getattr(part, kind)[4]:,}"
        for part in (curve.dev_outcomes, curve.outcomes)
        for kind in ("tp", "fp", "tn", "fn")
    ]
    assert list(tables["outcomes"].rows[1][1:]) == counts
    assert [row[1] for row in tables["leaderboard"].rows] == ["1", "2", "3"]
    assert [row[0] for row in tables["comparisons"].rows] == ["A − B", "A − C", "B − C"]
    assert tables["along-alpha"].header[1:] == ("0.1", "0.25", "0.5", "0.75", "0.9")
    for table in tables.values():
        assert all(len(row) == len(table.header) for row in table.rows)
        assert not table.groups or sum(width for _, width in table.groups) == len(table.header) - 1


def test_who_is_expected_to_be_better_than_the_first_is_not_called_worse(study: Study) -> None:
    first, *others = study.order_at(4)
    turned = []
    for pair in study.pairs:
        assert pair.expected is not None
        sure = np.ones(pair.alpha.size, dtype=np.bool_)
        ahead = others[0] if {pair.a, pair.b} == {first, others[0]} else first
        expected = np.full(pair.alpha.size, 0.1 if ahead == pair.b else -0.1)  # a lower HTER is better
        turned.append(replace(pair, expected=expected, significant=sure))
    table = moving_tables(replace(study, pairs=tuple(turned)), 4)[0]
    name = study.members[first].name
    assert [row[-1] for row in table.rows] == ["", f"better than {name}", f"worse than {name}"]


def test_columns_without_numbers_are_left_out(hostile: Study) -> None:
    for table in [*moving_tables(hostile, 0), *fixed_tables(hostile)]:
        assert not any("95" in cell for cell in table.header)
        assert all(len(row) == len(table.header) for row in table.rows)
        assert not table.groups or sum(width for _, width in table.groups) == len(table.header) - 1
    assert len(moving_tables(small_studies.study(2.0, bootstrap=None, points=3), 0)) == 2


def test_the_shape_does_not_depend_on_alpha(study: Study) -> None:
    shapes = {
        tuple((table.key, table.header, len(table.rows)) for table in moving_tables(study, index))
        for index in range(21)
    }
    assert len(shapes) == 1


def test_markdown(study: Study, hostile: Study) -> None:
    text = render_markdown(study)
    assert text.startswith("# A, B and C\n\nAt equal costs (alpha = 0.5), ")
    assert "| System | Rank | Between | HTER | 95 % | Group | Against the first |" in text
    assert "| --- | ---: | --- | ---: | ---: | --- | --- |" in text.splitlines()  # numbers stand at the right
    assert "development FAR" in text
    text = render_markdown(hostile)
    assert "<script>" not in text
    assert r"a\|b\_c\*d\*\`e\`&lt;script&gt;&amp;amp;\[x\](y)\#\$" in text
    for block in text.split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in rows}) <= 1, block


def test_latex(study: Study, hostile: Study) -> None:
    text = render_latex(study)
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 6
    assert rf"{100 * study.curves[0].value[study.at]:.2f}\,\%" in text
    text = render_latex(hostile)
    assert r"\textbackslash{}input\{x\} 50\% \& \#1 \textasciitilde{}\textasciicircum{}\{\}" in text
    for line in text.splitlines():
        if line.endswith(r"\\") and "multicolumn" not in line:
            body = line.removesuffix(r"\\")
            assert not re.search(r"(?<!\\)[%#_$]", body.replace("$-$", "")), line


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_latex_compiles(hostile: Study, tmp_path: Path) -> None:
    head = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}\\usepackage{booktabs}"
    (tmp_path / "x.tex").write_text(
        f"{head}\\begin{{document}}{render_latex(hostile)}\\end{{document}}", encoding="utf-8"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=batchmode", "x.tex"], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0


def test_csv_keeps_every_digit(study: Study) -> None:
    rows = list(csv.DictReader(io.StringIO(render_csv(study))))
    own = [row for row in rows if row["system"] == "B"]
    curve, band = study.curves[1], study.members[1].band
    assert band is not None
    assert [float(row["value"]) for row in own] == curve.value.tolist()
    assert [float(row["upper"]) for row in own] == band.upper.tolist()
    assert [int(row["fn"]) for row in own] == curve.outcomes.fn.tolist()
