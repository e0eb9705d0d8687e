"""``priori ztest``: confidence intervals of an HTER or DCF, and tests of two systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from priori.base.errors import OptionError
from priori.cli.ending import Ending, ending_options
from priori.cli.options import (
    Reading,
    alpha_list,
    criterion_options,
    reading_options,
    system_option,
    systems_of,
)
from priori.cli.output import table_text
from priori.curves.epc import EPC, epc
from priori.decisions.measures import get_measure, get_task, wer
from priori.plots.comparison import figure_ztest
from priori.uncertainty.ztest_curves import ZTestCurve, ztest_epc
from priori.uncertainty.ztests import METHODS, OVER_CONFIDENT, ZTest, ztest, ztest_scores
from priori.words.numbers import cell as percent
from priori.words.numbers import level_text

RATES = ("far", "frr", "negatives", "positives")


@click.command(name="ztest", short_help="Intervals and tests of HTER or DCF, from rates or from scores.")
@click.option("--far", type=float, metavar="RATE", help="False acceptance rate, as a fraction.")
@click.option("--frr", type=float, metavar="RATE", help="False rejection rate, as a fraction.")
@click.option("--negatives", type=int, metavar="N", help="Number of negative trials (impostors).")
@click.option("--positives", type=int, metavar="N", help="Number of positive trials (clients).")
@click.option("--far-b", type=float, metavar="RATE", help="The second system's false acceptance rate.")
@click.option("--frr-b", type=float, metavar="RATE", help="The second system's false rejection rate.")
@click.option("--negatives-b", type=int, metavar="N", help="Its negative trials. Default: as many.")
@click.option("--positives-b", type=int, metavar="N", help="Its positive trials. Default: as many.")
@system_option
@click.option("--unpaired", is_flag=True, help="The two test sets hold different trials.")
@criterion_options
@click.option(
    "--alpha",
    metavar="LIST",
    help="The trade-off at which thresholds are chosen: 0.5 (the default), or a list for two systems.",
)
@click.option("--points", type=int, help="Number of alphas from 0 to 1, for two systems.")
@click.option("--measure", metavar="NAME", help="What is tested: hter, dcf:..., wer:0.3, far, ... Default: the task's.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence level.")
@click.option(
    "--alternative",
    type=click.Choice(["two-sided", "less", "greater"]),
    help="Whether A differs from B, is below it, or above it. For one system: an upper (less) or lower limit.",
)
@click.option(
    "--one-sided",
    is_flag=True,
    help="Same as --alternative greater: A cannot be below B (Eq. 3.20). For one system: an upper limit.",
)
@ending_options("table", "json", "csv", plot="Along alpha: draw the curves and the confidence, FILE.svg, .png or .pdf.")
@reading_options
def command(
    system: tuple[tuple[str, str, str], ...],
    trials: tuple[str, str] | None,
    unpaired: bool,
    task: str,
    criterion: str | None,
    alpha: str | None,
    points: int | None,
    measure: str | None,
    level: float,
    alternative: str | None,
    one_sided: bool,
    ending: Ending,
    reading: Reading,
    **rates: Any,
) -> None:
    """Print intervals around the HTER (or DCF) of one system, or test whether two systems differ.

    From published rates, or from scores: thresholds are then chosen on each system's development scores. With
    scores of the same trials (by trial id, or row by row) the dependent test is made too; the verdict is that two
    systems differ only if the dependent and the independent test agree. NAIVE and CLASS are shown for comparison:
    they are over-confident.

    \b
    Examples:
      priori ztest --far 0.0115 --frr 0.025 --negatives 112000 --positives 400
      priori ztest --far 0.0115 --frr 0.025 --negatives 112000 --positives 400 --far-b 0.0195 --frr-b 0.0275
      priori ztest --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --alpha 0.5
      priori ztest --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --points 101 --format csv
    """
    given = {name: value for name, value in rates.items() if value is not None}
    if bool(given) == bool(system):
        raise OptionError("give rates (--far --frr --negatives --positives) or scores (--system NAME DEV TEST)")
    if one_sided and alternative:
        raise OptionError("--one-sided is short for one --alternative; give one of the two")
    if ending.plot and points is None and "," not in (alpha or ""):
        raise OptionError("--plot draws two systems along alpha; give --points or a list of --alpha")
    second = "far_b" in given or len(system) == 2
    side = alternative or (("greater" if second else "less") if one_sided else "two-sided")
    settings: dict[str, Any] = {"confidence_level": level, "alternative": side}
    if given:
        _check_rates(given)
        if alpha is not None or points is not None or criterion is not None or unpaired:
            raise OptionError("--alpha, --points, --criterion and --unpaired are for scores (--system)")
        _finish(ending, ztest(**given, measure=measure or get_task(task).aggregate, **settings))
        return
    if len(system) > 2:
        raise OptionError(f"one system or two, not {len(system)}; 'priori compare' tests all pairs")
    curves = [
        epc(one.dev, one.test, task=task, criterion=criterion, measure=measure, name=one.name, points=points or 101,
            alpha=(alpha_list(alpha) or ["0.5"]) if points is None else None)
        for one in systems_of(system, reading, trials)
    ]  # fmt: skip
    if curves[0].alpha.size == 1:
        _finish(ending, _at_one_alpha(curves, unpaired, settings), _thresholds(curves))
        return
    if len(curves) == 1:
        raise OptionError("several alphas are for two systems; give one --alpha, or a second --system")
    _finish_curve(ending, ztest_epc(*curves, unpaired=unpaired, **settings))


def _check_rates(given: Mapping[str, Any]) -> None:
    lacking = [f"--{name}" for name in RATES if name not in given]
    if lacking:
        raise OptionError(f"from rates all of --far, --frr, --negatives and --positives: {lacking[0]} is missing")


def _at_one_alpha(curves: list[EPC], unpaired: bool, settings: dict[str, Any]) -> ZTest:
    first, last = curves[0], curves[-1]
    at = float(first.alpha[0])
    measure = wer(at) if first.measure.needs_alpha else get_measure(first.measure)
    other = (last.test, float(last.threshold[0])) if len(curves) == 2 else (None, None)
    return ztest_scores(
        first.test, float(first.threshold[0]), *other,
        unpaired=unpaired, measure=measure, names=(first.name, last.name), **settings,
    )  # fmt: skip


def _thresholds(curves: list[EPC]) -> dict[str, Any]:
    named = zip(("threshold_a", "threshold_b"), curves, strict=False)
    return {
        "alpha": float(curves[0].alpha[0]),
        "criterion": curves[0].criterion.name,
        **{name: float(curve.threshold[0]) for name, curve in named},
    }


def _finish(ending: Ending, found: ZTest, chosen: Mapping[str, Any] | None = None) -> None:
    ending.finish(
        table=lambda: _table(found),
        csv=found.columns,
        json=lambda: {**(chosen or {}), **found.to_dict()},
        warnings=found.warnings,
    )


def _table(found: ZTest) -> str:
    rate, title = found.measure.rate, found.measure.title
    if found.comparison is None or found.b is None:
        columns = found.columns()
        rows = []
        for place, name in enumerate(columns["method"]):
            limits = [columns[column][place] for column in ("value", "lower", "upper", "width")]
            shown = [f"{100 * limit:.3f} %" if rate else f"{limit:.5g}" for limit in limits]
            rows.append([_label(name, title), *shown, f"{columns['sd'][place]:.6f}"])
        heading = f"{title}: {level_text(found.confidence_level)} interval ({found.alternative})"
        return table_text(heading, ["", "value", "lower", "upper", "width", "sd"], rows)
    a, b = found.a, found.b
    heading = (
        f"{title} of {a.name} {percent(float(a.hter.value), rate)}, of {b.name} "
        f"{percent(float(b.hter.value), rate)}; difference {a.name} minus {b.name} ({found.alternative})"
    )
    rows = []
    for name, one in found.comparison.tests.items():
        value, confidence = percent(float(one.value), rate), f"{100 * float(one.confidence):.1f} %"
        rows.append(
            [_label(name, title), value, f"{one.sd:.4f}", f"{one.statistic:.2f}", f"{one.p_value:.4g}", confidence]
        )
    header = ["", "difference", "sd", "z", "p-value", "confidence"]
    return table_text(heading, header, rows, note=found.sentence)


def _label(method: str, title: str) -> str:
    shown = {"hter": title, "naive": "NAIVE", "class": "CLASS"}.get(method, method)
    return f"{shown} ({METHODS[method][0]})" + (", over-confident" if method in OVER_CONFIDENT else "")


def _finish_curve(ending: Ending, found: ZTestCurve) -> None:
    ending.finish(
        table=lambda: _curve_table(found),
        csv=found.columns,
        json=found.to_dict,
        figure=lambda: figure_ztest(found),
        warnings=found.warnings,
    )


def _curve_table(found: ZTestCurve) -> str:
    columns, rate = found.columns(), found.measure.rate
    tests = [name for name in ("dependent", "independent") if f"confidence_{name}" in columns]
    rows = [
        [f"{alpha:.4g}", *(percent(columns[name][row], rate) for name in ("value_a", "value_b", "difference")),
         *(f"{100 * columns[f'confidence_{name}'][row]:.1f} %" for name in tests),
         "yes" if found.significant[row] else "no"]
        for row, alpha in enumerate(found.alpha)
    ]  # fmt: skip
    title = f"{found.measure.title} of {found.a.name} and {found.b.name}, and the confidence that they differ"
    header = ["alpha", found.a.name, found.b.name, "difference", *tests, "significant"]
    return table_text(title, header, rows)
