"""Gates: whether a system keeps stated limits on the test scores, and is no worse than another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args
from xml.etree import ElementTree

from priori.base.errors import OptionError, unknown
from priori.base.types import Progress
from priori.curves.epc import EPC
from priori.decisions.measures import get_measure
from priori.uncertainty.bands.bands import make_band
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.claims import Claim
from priori.uncertainty.comparing.comparison import comparison_of
from priori.uncertainty.comparing.evidence import gather_evidence
from priori.uncertainty.comparing.max_t import error_allowed

#: What a limit is held against: the end of the interval on the wrong side, or the value itself.
At = Literal["upper", "value"]


@dataclass(frozen=True)
class Checked:
    """One limit, what it was held against, and whether it is kept."""

    system: str
    what: str
    value: float
    lower: float
    upper: float
    limit: float
    at: str
    kept: bool
    rate: bool = True
    warnings: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What was asked, and what is."""
        return (
            f"{self.system}: {self.what} {self.value:.6g} (from {self.lower:.6g} to {self.upper:.6g}), limit "
            f"{self.limit:.6g} at {self.at}: {'kept' if self.kept else 'broken'}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        names = ("system", "what", "value", "lower", "upper", "limit", "at", "kept")
        return {name: getattr(self, name) for name in names}


def check_limits(
    curve: EPC,
    maxima: Mapping[str, float],
    resampling: Resampling,
    *,
    at: At = "upper",
    minima: Mapping[str, float] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[Checked]:
    """Hold measures of a system, at the one alpha of its curve, against limits.

    With ``at="upper"`` it is the end of the interval that must keep the limit: the upper one of a maximum, the lower
    one of a minimum.
    """
    if at not in get_args(At):
        raise unknown("end to hold a limit against", at, get_args(At))
    if curve.alpha.size != 1:
        raise OptionError("limits are held against at one alpha; give one")
    checked = []
    asked = [(name, limit, True) for name, limit in maxima.items()]
    asked += [(name, limit, False) for name, limit in (minima or {}).items()]
    for name, limit, most in asked:
        measure = get_measure(name)
        if measure.rate and not 0 <= limit <= 1:
            raise OptionError(f"{name} lies between 0 and 1, and so must its limit: 0.05 for 5 %, not {limit:g}")
        band = make_band(curve.showing(measure), resampling, threads=threads, progress=progress)
        value, lower, upper = (float(column[0]) for column in (band.value, band.lower, band.upper))
        held = value if at == "value" else upper if most else lower
        end = "value" if at == "value" else "upper" if most else "lower"
        kept = held <= limit if most else held >= limit
        checked.append(Checked(curve.name, name, value, lower, upper, limit, end, kept, measure.rate, band.warnings))
    return checked


def check_no_worse(
    curve: EPC,
    other: EPC,
    margin: float,
    resampling: Resampling,
    *,
    claim: Claim = "deployed",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Checked:
    """Test that a system is no worse than another by more than a margin, at the one alpha of both."""
    evidence = gather_evidence([curve, other], resampling, claim, margin=margin, threads=threads, progress=progress)
    found = comparison_of(evidence)
    assert found.margin is not None
    kept = bool(found.margin.a_no_worse[0] < error_allowed(found.margin.confidence_level) / 2)
    greater = curve.measure.greater_is_better
    what = f"{curve.measure.name} minus that of {other.name}"
    value, lower, upper = (float(column[0]) for column in (found.difference, found.lower, found.upper))
    limit, end = (-margin, "lower") if greater else (margin, "upper")
    return Checked(curve.name, what, value, lower, upper, limit, end, kept, curve.measure.rate, found.warnings)


def junit_xml(checked: Sequence[Checked]) -> str:
    """Return the limits as a JUnit report, one test case each."""
    broken = sum(not each.kept for each in checked)
    suite = ElementTree.Element("testsuite", name="priori check", tests=str(len(checked)), failures=str(broken))
    for each in checked:
        case = ElementTree.SubElement(suite, "testcase", classname=each.system, name=f"{each.what} {each.limit:.6g}")
        if not each.kept:
            ElementTree.SubElement(case, "failure", message=each.sentence)
        ElementTree.SubElement(case, "system-out").text = each.sentence
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"
