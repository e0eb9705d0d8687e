"""``priori ztest``: confidence intervals of an HTER or DCF, and tests of two systems."""

from __future__ import annotations

from typing import Any

import priori
from priori.base.cautions import joined, of_systems
from priori.base.errors import OptionError
from priori.cli.commands import Asked, at_alpha, judging, make_command, output_group, priced
from priori.cli.options import option, options
from priori.cli.systems import SYSTEMS
from priori.decisions.measures import get_measure, wer
from priori.decisions.tasks import get_task

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
    they are over-confident if one class is much larger.

    \b
    Examples:
      priori ztest --far 0.0115 --frr 0.025 --negatives 112000 --positives 400
      priori ztest --far 0.0115 --frr 0.025 --negatives 112000 --positives 400 --far-b 0.0195 --frr-b 0.0275
      priori ztest --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --alpha 0.5
    """
    settings, systems, output = asked.settings, asked.systems, asked.output
    measure = priced(settings)["measure"] or get_task(settings["task"]).aggregate
    rates = {name: value for name, value in asked.only(RATES).items() if value is not None}
    if bool(rates) == bool(systems):
        both = ", not both" if rates else ""
        raise OptionError(f"give rates (--far --frr --negatives --positives) or scores (--system NAME DEV TEST){both}")
    how: dict[str, Any] = {"confidence_level": asked.level, "alternative": asked.alternative}
    if rates:
        lacking = [name for name in RATES.split()[:4] if name not in rates]
        if lacking:
            raise OptionError(f"from rates all of --far, --frr, --negatives and --positives: --{lacking[0]} is missing")
        if settings["alpha"] is not None or settings["criterion"] is not None or asked.unpaired:
            raise OptionError("--alpha, --criterion and --unpaired are for scores (--system)")
        output.finish(priori.ztest(**rates, measure=measure, **how))
        return
    if len(systems) > 2:
        raise OptionError(f"one system or two, not {len(systems)}; 'priori compare' tests all pairs")
    curves = systems.curves(at_alpha(settings))
    if curves[0].alpha.size > 1:
        raise OptionError("a z-test is at one --alpha; 'priori compare' tests two systems along alpha")
    first, last = curves[0], curves[-1]
    shown = wer(float(first.alpha[0])) if first.measure.needs_alpha else get_measure(first.measure)
    other = (last.test, float(last.threshold[0])) if len(curves) == 2 else (None, None)
    how |= {"unpaired": asked.unpaired, "measure": shown, "names": (first.name, last.name)}
    test = priori.ztest_scores(first.test, float(first.threshold[0]), *other, **how)
    chosen = {"alpha": float(curves[0].alpha[0]), "criterion": curves[0].criterion.name}
    for name, curve in zip(("threshold_a", "threshold_b"), curves, strict=False):
        chosen[name] = float(curve.columns()["threshold"][0])
    warnings = joined(test.warnings, of_systems([(curve.name, curve.warnings) for curve in curves]))
    output.finish(test, json=lambda: {**chosen, **test.to_dict()}, warnings=warnings)
