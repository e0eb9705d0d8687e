"""What the drawings of curves share: the ends of exact curves, the axes of DET curves, colours and lines."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import priori
from priori import OptionError
from priori.plots.curves import det_axes, plot_epc, plot_roc, steps
from priori.plots.style import COLOURS, LINES, finished, with_looks
from results import curves


def test_an_exact_curve_is_constant_up_to_its_end() -> None:
    a, _ = curves()
    alpha, rows = steps(a)
    assert alpha is a.alpha
    assert rows.tolist() == list(range(a.alpha.size))
    exact = priori.epc(a.dev, a.test, exact=True, bounds=("0.1", "0.9"))
    alpha, rows = steps(exact)
    np.testing.assert_array_equal(alpha, [*exact.alpha, 0.9])
    np.testing.assert_array_equal(exact.value[rows], [*exact.value, exact.value[-1]])


def test_a_curve_at_one_alpha_is_a_point_within_the_axes_beside_the_a_posteriori_one() -> None:
    point = curves()[0].at(0.5)
    ax = plot_epc([point], best=True)
    low, high = ax.get_ylim()
    assert low == 0
    assert 100 * point.value[0] < 0.95 * high
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.5"]
    chosen, best, _ = ax.get_lines()
    assert (chosen.get_marker(), chosen.get_markerfacecolor()) == ("o", COLOURS[0])
    assert (best.get_marker(), best.get_markerfacecolor()) == ("o", "none")
    np.testing.assert_array_equal(best.get_ydata(), 100 * point.best)


def test_det_axes_begin_at_half_the_smallest_rate_and_mark_what_lies_between() -> None:
    curve = priori.det(priori.Scores.from_arrays(np.arange(50.0), np.arange(20.0, 30.0)))
    low, high, ticks = det_axes([curve])
    assert low == ticks["1"]  # 0.5 of 50
    assert high == ticks["60"]
    assert "0.5" not in ticks
    assert det_axes([curve], 0.99)[1] > high


def test_lines_change_where_colours_begin_again() -> None:
    looks = with_looks(list(range(9)))
    assert [look[0] for look in looks] == list(range(9))
    assert looks[0][1:] == (COLOURS[0], LINES[0])
    assert looks[8][1:] == (COLOURS[0], LINES[1])


def test_roc_curves_in_other_axes_with_the_points_fixed_in_advance() -> None:
    a, _ = curves()
    points = priori.epc(a.dev, a.test, alpha=[0.2, 0.5], name="A")
    curve = priori.roc(a.test, name="A")
    ax = curve.plot(axes="far-frr", log=True, operating_points=[points])
    line, marks, _, even = ax.lines
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()][1] == "threshold fixed in advance (a priori)"
    np.testing.assert_allclose(line.get_ydata(), 100 * curve.outcomes.fn / curve.scores.n_positives)
    np.testing.assert_allclose(marks.get_xdata(), 100 * points.v1)
    np.testing.assert_allclose(marks.get_ydata(), 100 * points.v2)
    assert list(even.get_xdata()) == list(even.get_ydata())
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("False acceptance rate (%)", "False rejection rate (%)")
    line, marks, *_ = curve.plot(axes="recall-precision", operating_points=[points]).lines
    recall, precision = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    # The lines that a thin curve leaves out are drawn as they run: every candidate lies on them.
    every = priori.roc(a.test, points="all").rates("recall-precision")
    for x, y in zip(100 * every["recall"], 100 * every["precision"], strict=True):
        assert np.min(np.hypot(recall - x, precision - y)) < 2.5
    accepted = points.outcomes.tp + points.outcomes.fp
    np.testing.assert_allclose(marks.get_ydata(), 100 * points.outcomes.tp / accepted)
    with pytest.raises(OptionError, match="no logarithmic axes"):
        curve.plot(axes="recall-precision", log=True)


def test_a_roc_curve_with_the_names_of_medicine() -> None:
    a, _ = curves()
    curve = priori.roc(a.test)
    ax = plot_roc([curve], axes="specificity-sensitivity")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("1 - specificity (%)", "Sensitivity (%)")
    line = ax.get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), 100 * curve.fpr)
    np.testing.assert_array_equal(line.get_ydata(), 100 * curve.tpr)
    rates = curve.rates("specificity-sensitivity")
    np.testing.assert_allclose(rates["specificity"], 1 - curve.fpr)
    np.testing.assert_array_equal(rates["sensitivity"], curve.tpr)


def test_recall_and_precision_have_the_break_even_line() -> None:
    ax = plot_roc([priori.roc(curves()[0].test, points="all")], axes="recall-precision")
    assert [line.get_xydata().tolist() for line in ax.get_lines()[1:]] == [[[0, 0], [100, 100]]]


def test_a_band_of_a_roc_curve_is_drawn_in_per_cent() -> None:
    roc = priori.roc(priori.Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9]))
    band = {"fpr": np.array([0.1, 0.5]), "lower": np.array([0.2, 0.6]), "upper": np.array([0.4, 0.8])}
    (filled,) = plot_roc([roc], bands=[band]).collections
    assert {(round(x, 9), round(y, 9)) for x, y in filled.get_paths()[0].vertices} == {
        (10, 20),
        (50, 60),
        (10, 40),
        (50, 80),
    }


def test_names_stand_at_the_ends_and_the_legend_says_what_a_band_is() -> None:
    low = priori.Scores.from_arrays([0.1, 0.2, 0.6], [0.4, 0.7, 0.9], negative_user=[*"abc"], positive_user=[*"abc"])
    curves = [priori.epc(low, low, name=name) for name in "AB"]
    ax = plot_epc(curves, bands=[curve.band(n_resamples=50) for curve in curves])
    ends = {text.get_text(): text.xy for text in ax.texts}
    value = 100 * curves[0].value[-1]
    # Both end in the same place: their names stand about it.
    assert ends["A"][0] == ends["B"][0] == 1
    assert ends["A"][1] < value < ends["B"][1]
    assert ends["A"][1] + ends["B"][1] == pytest.approx(2 * value)
    assert {line.get_drawstyle() for line in ax.get_lines() if len(line.get_xdata())} == {"steps-mid"}
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["95 % pointwise confidence interval, user bootstrap"]
    assert plot_epc([priori.epc(low, low)]).get_legend() is None  # nobody is called system


def test_no_point_of_a_det_curve_is_left_out_and_nobody_is_called_system() -> None:
    dev = priori.Scores.from_arrays([0.1, 0.2, 0.3, 0.4], [0.6, 0.7, 0.8, 0.9])
    test = priori.Scores.from_arrays([-0.4, -0.3, -0.2, 0.6], [0.1, 0.2, 0.3, 0.9])  # at 0.5 three of four are rejected
    ax = priori.det(test).plot(operating_points=[priori.epc(dev, test, alpha=[0.5])])
    assert ax.get_ylim()[1] > 0.6745 > 0
    legend = ax.get_legend()
    assert legend is not None
    assert "system" not in " ".join(text.get_text() for text in legend.get_texts())


@pytest.mark.parametrize(("name", "rows"), [("A", 1), ("a system that has a very long name", 2)])
def test_a_legend_below_the_axes_is_no_wider_than_the_figure(name: str, rows: int) -> None:
    figure = Figure(figsize=(5, 4))
    ax = figure.add_subplot()
    for number in range(2):
        ax.plot([0, 1], [0, number], label=f"{name} {number}")
    legend = finished(ax, below=True).get_legend()
    figure.draw_without_rendering()
    assert legend is not None
    assert len({round(text.get_window_extent().y0) for text in legend.get_texts()}) == rows
    assert legend.get_window_extent().width < figure.bbox.width
