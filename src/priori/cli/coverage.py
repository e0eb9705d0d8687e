"""``priori coverage``: the measured coverage of bands for unseen users."""

from __future__ import annotations

from typing import Any

import click

import priori
from priori.base.errors import OptionError
from priori.base.texts import cell as percent
from priori.cli.commands import CRITERION, make_command, output_group
from priori.cli.options import listed, option, options
from priori.cli.output import Output, Progress, table_text
from priori.cli.systems import SETS, Systems
from priori.studies.coverage import FOUR, PREDICTION

#: The options of simulated systems, as `priori.studies.simulation.systems` calls them.
SIMULATED = ("count", "n_users", "genuine_per_user", "impostor_per_user", "user_effect_sd")


@make_command(
    "coverage",
    SETS,
    *options("simulate count n_users genuine_per_user impostor_per_user user_effect_sd train_users test_users"),
    option("bootstraps", default=",".join((*FOUR, PREDICTION))),
    option("resamples", written="--resamples LIST", default="10,30,100", help="Numbers of resamples, U or S, to try."),
    *options("fixed repeats"),
    option(
        "resample",
        default="both",
        help="What the four bootstraps resample: the test scores, or the development scores too.",
    ),
    *options("thresholds level"),
    *CRITERION,
    *options("measure points seed threads"),
    output_group(plot="Draw the coverage against the resamples"),
)
def coverage(
    systems: Systems,
    simulate: bool,
    bootstraps: str,
    resamples: str,
    level: float,
    seed: int,
    output: Output,
    options: dict[str, Any],
) -> None:
    """Make bands from some users of each system and measure how much of the curve of other users they cover.

    This is the experiment of section 5 of Poh and Bengio (2007), for the four bootstraps and for the prediction band,
    which is made to cover the curve of unseen users. The csv columns are bootstrap, U, S (resamples of users, and of
    trials within each), coverage, standard_error, width.

    \b
    Examples:
      priori coverage --simulate
      priori coverage --simulate --systems 6 --repeats 4 --bootstraps user,joint,prediction
      priori coverage --system A a-dev.csv a-test.csv --train-users 20 --test-users 40
    """
    simulated = {name: value for name in SIMULATED if (value := options.pop(name)) is not None}
    if simulate == bool(systems):
        raise OptionError("give score files (--system NAME DEV TEST) or --simulate, one of the two")
    pool = _simulated(simulated, seed) if simulate else _read(systems, simulated)
    measure = priori.epc(
        *pool[0], **{name: options[name] for name in ("task", "criterion", "measure")}, alpha=["0.5"]
    ).measure
    with Progress("coverage") as progress:
        result = priori.coverage(
            pool,
            bootstraps=listed(bootstraps),
            n_resamples=_numbers(resamples),
            confidence_level=level,
            rng=seed,
            progress=progress,
            **options,
        )
    output.finish(result, table=lambda: _table(result, measure))


def _numbers(text: str) -> list[int]:
    parts = listed(text)
    if not parts or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise OptionError(f"--resamples {text!r}: write whole numbers from 1 up between commas, such as 10,30,100")
    return [int(part) for part in parts]


def _simulated(simulated: dict[str, Any], seed: int) -> list[tuple[priori.Scores, priori.Scores]]:
    from priori.studies.simulation import systems

    return systems(**simulated, rng=seed)


def _read(systems: Systems, simulated: dict[str, Any]) -> list[tuple[priori.Scores, priori.Scores]]:
    if simulated:
        names = {param.name: param.opts[-1] for param in click.get_current_context().command.params}
        raise OptionError(f"{names[next(iter(simulated))]} goes with --simulate, not with score files")
    return [(system.dev.load(), system.test.load()) for system in systems.read()]


def _table(result: priori.Coverage, measure: priori.Measure) -> str:
    rows = []
    for name, users, samples, share, error, width in zip(*result.columns().values(), strict=True):
        spread = "-" if error != error else f"{100 * error:.1f}"
        rows.append([str(name), str(users), str(samples), f"{100 * share:.1f} %", spread, percent(width, measure.rate)])
    settings, conjecture = result.settings, result.conjecture
    level = f"{100 * settings['confidence_level']:g} %"
    note = [f"nominal {level}; +- is the standard error over {len(result.covered)} experiments"]
    if conjecture is not None:
        widths = " <= ".join(percent(width, measure.rate) for width in conjecture.widths)
        note.append(
            f"conjecture (14), width(S, 1) <= width(1, U) <= width(S, U): {'yes' if conjecture.holds else 'no'} "
            f"({widths}; in {100 * conjecture.share:.0f} % of the experiments)"
        )
    return table_text(
        f"Coverage of the curve of {settings['test_users']} unseen users by bands from {settings['train_users']}",
        ["bootstrap", "U", "S", "coverage", "+-", "width"],
        rows,
        note="\n".join(note),
    )
