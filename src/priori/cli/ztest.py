"""``priori ztest``: confidence intervals of an HTER or DCF, and tests of two systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import priori
from priori.base.cautions import joined, of_systems
from priori.base.errors import OptionError
from priori.base.texts import cell as percent
from priori.cli.commands import Judging, judging, make_command, output_group
from priori.cli.options import option, options
from priori.cli.output import Output, table_of, table_text
from priori.cli.systems import SYSTEMS, Systems
from priori.decisions.measures import get_measure, wer
from priori.decisions.tasks import get_task
from priori.uncertainty.comparing.ztests import METHODS, OVER_CONFIDENT, ZTest, ZTestCurve
from priori.words.numbers import level_text

RATES = ("far", "frr", "negatives", "positives")


@make_command(
    "ztest",
    *options("far frr negatives positives far_b frr_b negatives_b positives_b"),
    SYSTEMS,
    option("unpaired", help="The two test sets hold different trials."),
    judging(),
    option("points", kind=int, default=None, help="Number of alphas from 0 to 1, for two systems."),
    option("level"),
    option(
        "alternative",
        default=None,
        help="Whether A differs from B, is below it, or above it. For one system: an upper (less) or lower limit.",
    ),
    option(
        "one_sided",
        help="Same as --alternative greater: A cannot be below B (Eq. 3.20). For one system: an upper limit.",
    ),
    output_group("table", "json", "csv", plot="Along alpha: draw the curves and the confidence"),
)
def ztest(
    systems: Systems,
    unpaired: bool,
    judging: Judging,
    points: int | None,
    level: float,
    alternative: str | None,
    one_sided: bool,
    output: Output,
    options: dict[str, Any],
) -> None:
    """Print intervals around the HTER (or DCF) of one system, or test whether two systems differ.

    From published rates, or from scores: thresholds are then chosen on each system's development scores. With
    scores of the same trials (by trial id, or row by row) the dependent test is run too; the verdict is that two
    systems differ only if the dependent and the independent test agree. NAIVE and CLASS are shown for comparison:
    they are over-confident.

    \b
    Examples:
      priori ztest --far 0.0115 --frr 0.025 --negatives 112000 --positives 400
      priori ztest --far 0.0115 --frr 0.025 --negatives 112000 --positives 400 --far-b 0.0195 --frr-b 0.0275
      priori ztest --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --alpha 0.5
      priori ztest --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --points 101 --format csv
    """
    judged = judging.settings()
    rates = {name: value for name, value in options.items() if value is not None}
    if bool(rates) == bool(systems):
        raise OptionError("give rates (--far --frr --negatives --positives) or scores (--system NAME DEV TEST)")
    if one_sided and alternative:
        raise OptionError("--one-sided is short for one --alternative; give one of the two")
    if output.plot and points is None and len(judging.alpha or ()) < 2:
        raise OptionError("--plot draws two systems along alpha; give --points or a list of --alpha")
    second = "far_b" in rates or len(systems) == 2
    side = alternative or (("greater" if second else "less") if one_sided else "two-sided")
    settings: dict[str, Any] = {"confidence_level": level, "alternative": side}
    if rates:
        lacking = [f"--{name}" for name in RATES if name not in rates]
        if lacking:
            raise OptionError(f"from rates all of --far, --frr, --negatives and --positives: {lacking[0]} is missing")
        if judging.alpha is not None or points is not None or judging.criterion is not None or unpaired:
            raise OptionError("--alpha, --points, --criterion and --unpaired are for scores (--system)")
        _finish(
            output, priori.ztest(**rates, measure=judged["measure"] or get_task(judging.task).aggregate, **settings)
        )
        return
    if len(systems) > 2:
        raise OptionError(f"one system or two, not {len(systems)}; 'priori compare' tests all pairs")
    along = {**judged, "alpha": None, "points": points}
    curves = systems.curves(judging.at_alpha() if points is None else along)
    of_curves = of_systems([(curve.name, curve.warnings) for curve in curves])
    if curves[0].alpha.size == 1:
        _finish(output, _at_one_alpha(curves, unpaired, settings), _thresholds(curves), of_curves)
        return
    if len(curves) == 1:
        raise OptionError("several alphas are for two systems; give one --alpha, or a second --system")
    tests = priori.ztest_epc(*curves, unpaired=unpaired, **settings)
    output.finish(
        tests,
        table=lambda: _curve_table(tests),
        figure=lambda plots: plots.figure_ztest(tests),
        warnings=joined(tests.warnings, of_curves),
    )


def _at_one_alpha(curves: list[priori.EPC], unpaired: bool, settings: dict[str, Any]) -> ZTest:
    first, last = curves[0], curves[-1]
    measure = wer(float(first.alpha[0])) if first.measure.needs_alpha else get_measure(first.measure)
    other = (last.test, float(last.threshold[0])) if len(curves) == 2 else (None, None)
    return priori.ztest_scores(
        first.test,
        float(first.threshold[0]),
        *other,
        unpaired=unpaired,
        measure=measure,
        names=(first.name, last.name),
        **settings,
    )


def _thresholds(curves: list[priori.EPC]) -> dict[str, Any]:
    named = zip(("threshold_a", "threshold_b"), curves, strict=False)
    return {
        "alpha": float(curves[0].alpha[0]),
        "criterion": curves[0].criterion.name,
        **{name: float(curve.threshold[0]) for name, curve in named},
    }


def _finish(
    output: Output, test: ZTest, chosen: Mapping[str, Any] | None = None, of_curves: tuple[str, ...] = ()
) -> None:
    output.finish(
        test,
        table=lambda: _table(test),
        json=lambda: {**(chosen or {}), **test.to_dict()},
        warnings=joined(test.warnings, of_curves),
    )


def _table(test: ZTest) -> str:
    rate, title = test.measure.rate, test.measure.title
    rows = []
    if test.comparison is None or test.b is None:
        columns = test.columns()
        names = ("method", "equation", "sd", "value", "lower", "upper", "width")
        for method, equation, sd, *numbers in zip(*(columns[name] for name in names), strict=True):
            cells = [f"{100 * number:.3f} %" if rate else f"{number:.5g}" for number in numbers]
            rows.append([_label(method, equation, title), *cells, f"{sd:.6f}"])
        heading = f"{title}: {level_text(test.confidence_level)} interval ({test.alternative})"
        return table_text(heading, ["", "value", "lower", "upper", "width", "sd"], rows)
    a, b = test.a, test.b
    heading = (
        f"{title} of {a.name} {percent(float(a.hter.value), rate)}, of {b.name} "
        f"{percent(float(b.hter.value), rate)}; difference {a.name} minus {b.name} ({test.alternative})"
    )
    for method, paired in test.comparison.tests.items():
        rows.append(
            [
                _label(method, METHODS[method][0], title),
                percent(float(paired.value), rate),
                f"{paired.sd:.4f}",
                f"{paired.statistic:.2f}",
                f"{paired.p_value:.4g}",
                f"{100 * float(paired.confidence):.1f} %",
            ]
        )
    header = ["", "difference", "sd", "z", "p-value", "confidence"]
    return table_text(heading, header, rows, note=test.sentence)


def _label(method: str, equation: str, title: str) -> str:
    name = {"naive": "NAIVE", "class": "CLASS"}.get(method, method if method in METHODS else title)
    return f"{name} ({equation})" + (", over-confident" if method in OVER_CONFIDENT else "")


def _curve_table(tests: ZTestCurve) -> str:
    columns = tests.columns()
    kinds = [name for name in ("dependent", "independent") if f"confidence_{name}" in columns]
    title = f"{tests.measure.title} of {tests.a.name} and {tests.b.name}, and the confidence that they differ"
    headings = {
        "alpha": "alpha",
        "value_a": tests.a.name,
        "value_b": tests.b.name,
        "difference": "difference",
        **{f"confidence_{name}": name for name in kinds},
        "significant": "significant",
    }
    return table_of(title, columns, headings, rate=tests.measure.rate)
