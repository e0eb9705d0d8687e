"""Options that people set: declared once, by name, help and default, for commands and forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from priori.base.errors import OptionError, argument

if TYPE_CHECKING:
    import numpy as np

#: What is resampled, how bounds come from replicates, what a comparison is about.
Resample = Literal["test", "both"]
Interval = Literal["calibrated", "percentile", "centred"]
Claim = Literal["method", "deployed"]
#: What counts equally on test scores.
Weight = Literal["trial", "user"]


@dataclass(frozen=True)
class FormField:
    """How a form asks for an option: its label and help, its name in messages, the texts or the range it allows.

    ``most`` is None where the server's own limit holds.
    """

    label: str
    what: str = ""
    help: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    least: float = 0
    most: float | None = None


@dataclass(frozen=True)
class Option:
    """How people meet a field: by ``name`` on the command line, perhaps in a form.

    ``least`` is the smallest whole number typed, ``opposite`` the name of the option that says no, ``parse`` what
    makes a value of text of the shape ``metavar``.
    """

    name: str
    help: str
    choices: tuple[str, ...] = ()
    least: int | None = None
    opposite: str | None = None
    metavar: str | None = None
    parse: Callable[[str], Any] | None = None
    form: FormField | None = None


def _read_number(text: str) -> int | tuple[int, int]:
    """Read a number of replicates as typed: 10000, or 100x100."""
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) > 2 or not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise OptionError(
            f"{argument('n_resamples')} {text!r}: write a whole number such as 10000, or USERSxSAMPLES such as 100x100"
        )
    numbers = [int(part) for part in parts]
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def _option(name: str, help: str, **shape: Any) -> dict[str, Option]:
    return {"option": Option(name, help, **shape)}


@dataclass(frozen=True)
class ResamplingOptions:
    """How to resample, as people say it; `priori.uncertainty.bootstrap.resampling.Resampling` checks and settles it."""

    bootstrap: str | None = field(
        default=None,
        metadata=_option(
            "bootstrap",
            "What is resampled; auto: people if they are known, else trials.",
            form=FormField("Bootstrap", "bootstrap", "What is resampled for the intervals."),
        ),
    )
    n_resamples: int | tuple[int, int] = field(
        default=10_000,
        metadata=_option(
            "resamples",
            "Number of replicates; UxS draws users U times and their trials S times in each (joint); with U = 1 only "
            "trials vary.",
            metavar="N|UxS",
            parse=_read_number,
            form=FormField("Resamples", "the number of resamples", least=100),
        ),
    )
    resample: Resample = field(
        default="test",
        metadata=_option(
            "resample",
            "Resample the test scores only, or the development scores too, with new thresholds.",
            choices=get_args(Resample),
            form=FormField(
                "Resample", "set to resample", texts={"test": "the test set", "both": "both sets, with new thresholds"}
            ),
        ),
    )
    confidence_level: float = field(
        default=0.95,
        metadata=_option(
            "level",
            "The confidence level.",
            form=FormField("Level", "the level", "Of the intervals, from 0.5 up.", least=0.5, most=0.9999),
        ),
    )
    interval: Interval | None = field(
        default=None,
        metadata=_option(
            "interval",
            "How bounds are computed from replicates. Default: calibrated, or percentile for the joint and the "
            "user-constrained bootstrap, as published.",
            choices=get_args(Interval),
        ),
    )
    simultaneous: bool = field(
        default=False,
        metadata=_option(
            "simultaneous",
            "Simultaneous band: covers the whole curve with the stated confidence.",
            form=FormField("Simultaneous bands: they cover the whole curve with the stated confidence"),
        ),
    )
    rng: int | np.random.Generator | None = field(
        default=0,
        metadata=_option(
            "seed", "Seed of the random numbers.", least=0, form=FormField("Seed", "the seed", most=999_999_999)
        ),
    )
    shared_users: bool | None = field(
        default=None,
        metadata=_option(
            "shared_users",
            "Resample the users of both sets together or independently. Default: together if they are the same.",
            opposite="own_users",
        ),
    )


def option_fields() -> Iterator[tuple[Field[Any], Option]]:
    """Yield every field of a resampling with what people see of it."""
    for each in fields(ResamplingOptions):
        yield each, each.metadata["option"]
