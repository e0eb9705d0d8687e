"""Figures: they work in notebooks, and with the user's own settings."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbclient
import nbformat
import pytest
from matplotlib import pyplot

import priori
from priori import plots
from results import curves, every_result, scores

mpl.use("agg")

# -- matplotlib as the user has set it -----------------------------------------------------------------


def test_plots_take_axes_and_return_them() -> None:
    for name, result in every_result().items():
        if hasattr(result, "plot"):
            _, ax = pyplot.subplots()
            assert result.plot(ax=ax) is ax, name
            assert result.plot() is not ax, name
            pyplot.close("all")


@pytest.mark.parametrize(
    ("result", "drawing"),
    [
        (priori.EPC, plots.plot_epc),
        (priori.Band, plots.plot_epc),
        (priori.AposterioriROC, plots.plot_roc),
        (priori.AposterioriDET, plots.plot_det),
        (priori.AverageCurve, plots.plot_average),
        (priori.AverageEPC, plots.plot_average_epc),
        (priori.Comparison, plots.plot_comparison),
    ],
)
def test_plot_writes_its_options_out(result: Any, drawing: Any) -> None:
    own, theirs = (
        {name: one.default for name, one in inspect.signature(function).parameters.items() if name != "self"}
        for function in (result.plot, drawing)
    )
    del theirs[next(iter(theirs))]  # the result itself
    if result is priori.Band:
        del theirs["bands"]  # it is one
    assert own == theirs


def test_the_options_of_plots_do_what_they_say() -> None:
    a, _ = curves()
    band = a.band(n_resamples=20)
    assert len(a.plot(best=True).lines) == len(a.plot().lines) + 2
    assert len(a.plot(bands=[band]).collections) == len(band.plot().collections) == 1
    roc = priori.roc(scores(2, 0))
    assert len(roc.plot(operating_points=[a], chance=False).lines) == 3  # the curve, the point, its kind in the legend
    pyplot.close("all")


def test_the_size_and_colours_of_the_user_come_first() -> None:
    roc = priori.roc(scores(2, 0))
    assert roc.plot().figure.get_size_inches().tolist() == [5, 5.6]
    with mpl.rc_context({"figure.figsize": (9, 3), "axes.prop_cycle": mpl.cycler(color=["#123456"])}):
        ax = roc.plot()
    assert ax.figure.get_size_inches().tolist() == [9, 3]
    assert ax.lines[0].get_color() == "#123456"
    pyplot.close("all")


# -- notebooks -----------------------------------------------------------------------------------------

CELLS = (
    "import numpy as np, priori\n"
    "rng = np.random.default_rng(0)\n"
    "dev, test = (priori.Scores.from_arrays(rng.normal(size=200), rng.normal(2, 1, 200)) for _ in range(2))\n"
    "curve = priori.epc(dev, test, points=11)",
    "curve",
    "_ = curve.plot()",
)


def test_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    _, shown, drawn = ([output.get("data", {}) for output in cell.outputs] for cell in notebook.cells)
    assert "<strong>EPC " in "".join(shown[0]["text/html"])
    assert any("image/png" in data for data in drawn)


def test_a_marimo_app(tmp_path: Path) -> None:
    body = "\n".join(f"    {line}" for line in CELLS[0].splitlines())
    (tmp_path / "app.py").write_text(
        "import marimo\n\napp = marimo.App()\n\n\n"
        f"@app.cell\ndef _():\n{body}\n    return (curve,)\n\n\n"
        "@app.cell\ndef _(curve):\n    curve\n    return\n\n\n"
        "@app.cell\ndef _(curve):\n    curve.plot()\n    return\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-m", "marimo", "-q", "export", "html", "app.py", "-o", "app.html", "--no-include-code"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "app.html").read_text()
    assert "EPC" in page
    assert "image/png" in page


@pytest.mark.parametrize(("sets", "filled"), [(1, 0), (2, 1)])
def test_an_average_has_an_interval_from_two_data_sets_on(sets: int, filled: int) -> None:
    parts = [priori.Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9 + part]) for part in range(sets)]
    assert len(priori.average(parts, method="vertical").plot().patches) == filled
    pyplot.close("all")
