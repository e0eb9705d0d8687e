"""``priori coverage``: the measured coverage of bands for unseen users."""

from __future__ import annotations

from typing import Any

import click

import priori
from priori.base.errors import OptionError
from priori.base.limits import MOST_REPEATS, MOST_SYSTEMS, MOST_TRIALS, MOST_USERS
from priori.base.texts import cell as percent
from priori.cli.commands import make_command, option
from priori.cli.options import CURVE, THREADS, output_group, resampling_option
from priori.cli.output import Output, Progress, table_text
from priori.cli.systems import SYSTEMS, Systems
from priori.studies.coverage import FOUR, PREDICTION

#: The options of simulated systems, as `priori.studies.simulation.systems` calls them.
SIMULATED = ("count", "n_users", "genuine_per_user", "impostor_per_user", "user_effect_sd")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    parts = _names(text)
    if not parts or not all(part.isdigit() and int(part) > 0 for part in parts):
        raise OptionError(f"--resamples {text!r}: write whole numbers from 1 up between commas, such as 10,30,100")
    return [int(part) for part in parts]


@make_command(
    "coverage",
    SYSTEMS,
    option("--simulate", is_flag=True, help="Simulated systems instead of files, of the NIST 2005 subset's shape."),
    option(
        "--systems",
        "count",
        type=click.IntRange(1, MOST_SYSTEMS),
        metavar="N",
        help="Number of simulated systems.  [default: 24]",
    ),
    option(
        "--users",
        "n_users",
        type=click.IntRange(4, MOST_USERS),
        metavar="N",
        help="Users in each of their sets.  [default: 124]",
    ),
    option(
        "--genuine",
        "genuine_per_user",
        type=click.IntRange(1, MOST_TRIALS),
        metavar="N",
        help="Genuine trials of a user.  [default: 9]",
    ),
    option(
        "--impostor",
        "impostor_per_user",
        type=click.IntRange(1, MOST_TRIALS),
        metavar="N",
        help="Impostor trials of a user.  [default: 96]",
    ),
    option(
        "--user-effect",
        "user_effect_sd",
        type=click.FloatRange(0, 1),
        metavar="SD",
        help="Standard deviation between users, in units of a score's.  [default: 0.5]",
    ),
    option("--train-users", type=int, default=31, help="Users that a band is made from."),
    option("--test-users", type=int, default=62, help="Unseen users whose curve it should cover."),
    option(
        "--bootstraps",
        metavar="LIST",
        default=",".join((*FOUR, PREDICTION)),
        help="Which bands, between commas; prediction is the one made to cover such curves.",
    ),
    option("--resamples", metavar="LIST", default="10,30,100", help="Numbers of resamples, U or S, to try."),
    option(
        "--fixed",
        type=click.IntRange(min=1),
        default=30,
        help="The number kept fixed while the other varies in the joint bootstrap.",
    ),
    option("--repeats", type=click.IntRange(1, MOST_REPEATS), default=1, help="Number of random splits of the users."),
    resampling_option(
        "resample",
        default="both",
        help="What the four bootstraps resample: the test scores, or the development scores too.",
    ),
    option(
        "--thresholds",
        type=click.Choice(["kept", "new"]),
        default="kept",
        help="Thresholds of the unseen curve: the band's, or those of other development users.",
    ),
    resampling_option("confidence_level"),
    *CURVE,
    resampling_option("rng"),
    THREADS,
    output_group("table", "csv", "json", plot="Draw the coverage against the resamples: FILE.svg, .png or .pdf."),
)
def command(
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
            bootstraps=_names(bootstraps),
            n_resamples=_numbers(resamples),
            confidence_level=level,
            rng=seed,
            progress=progress,
            **options,
        )
    output.finish(result, table=lambda: _table(result, measure))


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
