"""``priori ztest``: confidence intervals of an HTER or DCF, and tests of two systems."""

from __future__ import annotations

from typing import Any

import priori
from priori.base.cautions import joined, of_systems
from priori.base.errors import OptionError
from priori.cli.commands import Asked, judging, make_command, output_group
from priori.cli.options import option, options
from priori.cli.systems import SYSTEMS
from priori.decisions.measures import get_measure, wer
from priori.decisions.tasks import get_task
from priori.uncertainty.comparing.ztests import ZTest

RATES = "far frr negatives positives far_b frr_b negatives_b positives_b"


@make_command(
    "ztest",
    *options(RATES),
    SYSTEMS,
    option("unpaired", help="The two test sets hold different trials."),
    judging(),
    option("level"),
    option(
        "alternative",
        help="Whether A differs from B, is below it (less), or above it (greater, Eq. 3.20). For one system: an upper "
        "(less) or a lower limit.",
    ),
    output_group("table", "json", "csv"),
)
def ztest(asked: Asked) -> None:
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
    """
    judging, systems, output = asked.judging, asked.systems, asked.output
    judged = judging.settings()
    rates = {name: value for name, value in asked.only(RATES).items() if value is not None}
    if bool(rates) == bool(systems):
        both = ", not both" if rates else ""
        raise OptionError(f"give rates (--far --frr --negatives --positives) or scores (--system NAME DEV TEST){both}")
    how: dict[str, Any] = {"confidence_level": asked.level, "alternative": asked.alternative}
    if rates:
        lacking = [name for name in RATES.split()[:4] if name not in rates]
        if lacking:
            raise OptionError(f"from rates all of --far, --frr, --negatives and --positives: --{lacking[0]} is missing")
        if judging.alpha is not None or judging.criterion is not None or asked.unpaired:
            raise OptionError("--alpha, --criterion and --unpaired are for scores (--system)")
        output.finish(priori.ztest(**rates, measure=judged["measure"] or get_task(judging.task).aggregate, **how))
        return
    if len(systems) > 2:
        raise OptionError(f"one system or two, not {len(systems)}; 'priori compare' tests all pairs")
    curves = systems.curves(judging.at_alpha())
    if curves[0].alpha.size > 1:
        raise OptionError("a z-test is at one --alpha; 'priori compare' tests two systems along alpha")
    test = _at_one_alpha(curves, {**how, "unpaired": asked.unpaired})
    chosen = {"alpha": float(curves[0].alpha[0]), "criterion": curves[0].criterion.name}
    for name, curve in zip(("threshold_a", "threshold_b"), curves, strict=False):
        chosen[name] = float(curve.columns()["threshold"][0])
    warnings = joined(test.warnings, of_systems([(curve.name, curve.warnings) for curve in curves]))
    output.finish(test, json=lambda: {**chosen, **test.to_dict()}, warnings=warnings)


def _at_one_alpha(curves: list[priori.EPC], how: dict[str, Any]) -> ZTest:
    first, last = curves[0], curves[-1]
    measure = wer(float(first.alpha[0])) if first.measure.needs_alpha else get_measure(first.measure)
    other = (last.test, float(last.threshold[0])) if len(curves) == 2 else (None, None)
    names = (first.name, last.name)
    return priori.ztest_scores(first.test, float(first.threshold[0]), *other, measure=measure, names=names, **how)
