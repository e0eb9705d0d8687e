"""Tables 3.2-3.7 of the thesis beside what its printed rates give, with the slack that their rounding leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from papers.results import Conclusion, Table
from priori.uncertainty.comparing.ztests import ZTest, ztest

__all__ = [
    "NIST2000",
    "XM2VTS",
    "Compared",
    "difference_tests",
    "interval_widths",
    "published_tables",
    "rates_table",
    "table_conclusions",
]

LEVELS = (0.90, 0.95, 0.99)


@dataclass(frozen=True)
class Study:
    """Two systems as a table of the thesis has them: rates in per cent, printed to ``step``, and class sizes."""

    name: str
    table: str
    systems: tuple[str, str]
    rates: tuple[tuple[float, float], tuple[float, float]]
    hter: tuple[float, float]
    step: float
    negatives: int
    positives: int

    def boxes(self) -> Iterator[tuple[float, float, float, float]]:
        """Return the printed rates, then the corners of the box of rates that would be printed the same."""
        far_a, frr_a, far_b, frr_b = (rate / 100 for pair in self.rates for rate in pair)
        yield far_a, frr_a, far_b, frr_b
        half = self.step / 200
        for signs in product((-half, half), repeat=4):
            moved = (far_a + signs[0], frr_a + signs[1], far_b + signs[2], frr_b + signs[3])
            yield moved


XM2VTS = Study("XM2VTS", "3.2", ("A", "B"), ((1.15, 2.50), (1.95, 2.75)), (1.82, 2.35), 0.01, 112_000, 400)
NIST2000 = Study("NIST'2000", "3.5", ("C", "D"), ((13.1, 9.6), (15.8, 7.8)), (11.4, 11.8), 0.1, 57_748, 5825)

#: Tables 3.3 and 3.6: widths in per cent at 90, 95 and 99 %.
WIDTHS = {
    "3.3": {"hter": (1.285, 1.531, 2.013), "naive": (0.131, 0.156, 0.206), "class": (0.105, 0.125, 0.164)},
    "3.6": {"hter": (0.676, 0.805, 1.058), "naive": (0.414, 0.493, 0.648), "class": (0.436, 0.519, 0.682)},
}
#: Tables 3.4 and 3.7: the confidence in per cent and the standard deviation.
TESTS = {
    "3.4": {
        "dependent": (69.2, 0.0052),
        "independent": (64.7, 0.0057),
        "naive": (100.0, 0.0006),
        "class": (100.0, 0.0005),
    },
    "3.7": {
        "dependent": (98.8, 0.0016),
        "independent": (89.1, 0.0028),
        "naive": (98.9, 0.0018),
        "class": (100.0, 0.0019),
    },
}


@dataclass(frozen=True)
class Compared:
    """A published number, ours from the printed rates, and the range that rounding of those rates allows."""

    label: str
    published: float
    ours: float
    lowest: float
    highest: float
    step: float

    @property
    def agrees(self) -> bool:
        """Whether a number that would be printed so can come from rates that would be printed as they are."""
        slack = self.step / 2 * (1 + 1e-9)
        return self.lowest - slack <= self.published <= self.highest + slack

    def row(self, digits: int) -> tuple[object, ...]:
        """Return the row of the table "published / ours"."""
        numbers = (self.published, self.ours, self.ours - self.published, self.lowest, self.highest)
        shown = (f"{round(number, digits) + 0.0:.{digits}f}" for number in numbers)  # no minus before zero
        return (self.label, *shown, self.agrees)


HEADER = ("", "published", "ours", "difference", "least by rounding", "most by rounding", "agrees")


def _ranged(
    study: Study, value: Callable[[ZTest], float], label: str, published: float, step: float, **options: float
) -> Compared:
    """Compute one number from the printed rates and from the corners of what would be printed the same."""
    found = []
    for far, frr, far_b, frr_b in study.boxes():
        test = ztest(far, frr, study.negatives, study.positives, far_b=far_b, frr_b=frr_b, **options)  # type: ignore[arg-type]
        found.append(value(test))
    return Compared(label, published, found[0], min(found), max(found), step)


def interval_widths(study: Study, table: str) -> list[Compared]:
    def width(test: ZTest, method: str) -> float:
        return 100 * float(test.a.intervals[method].width)

    return [
        _ranged(
            study, partial(width, method=method), f"{level:.0%} {method.upper()}", value, 0.001, confidence_level=level
        )
        for method, values in WIDTHS[table].items()
        for level, value in zip(LEVELS, values, strict=True)
    ]


def difference_tests(study: Study, table: str) -> list[Compared]:
    def confidence(test: ZTest, method: str) -> float:
        assert test.comparison is not None
        return 100 * float(test.comparison[method].confidence)

    def deviation(test: ZTest, method: str) -> float:
        assert test.comparison is not None
        return float(test.comparison[method].sd)

    rows = []
    for method, (percent, sd) in TESTS[table].items():
        name = method.upper()
        if method == "dependent":
            rows.append(_printed_confidence(study, percent, sd))
            continue
        rows.append(_ranged(study, partial(confidence, method=method), f"confidence (%) {name}", percent, 0.1))
        rows.append(_ranged(study, partial(deviation, method=method), f"sigma {name}", sd, 0.0001))
    return rows


def _printed_confidence(study: Study, percent: float, sd: float) -> Compared:
    """Return the confidence that the printed sigma of the dependent test and the printed rates give together."""
    from scipy.special import erf

    def confidence(far: float, frr: float, far_b: float, frr_b: float, sigma: float) -> float:
        return 100 * float(erf(abs(far + frr - far_b - frr_b) / 2 / sigma / np.sqrt(2)))

    ours = [confidence(*rates, sigma) for rates in study.boxes() for sigma in (sd, sd - 0.00005, sd + 0.00005)]
    return Compared("confidence (%) from the printed sigma, DEPENDENT", percent, ours[0], min(ours), max(ours), 0.1)


def rates_table() -> Table:
    rows = []
    for study in (XM2VTS, NIST2000):
        for name, (far, frr), hter in zip(study.systems, study.rates, study.hter, strict=True):
            ours = (far + frr) / 2
            rows.append((f"{study.table}, model {name} ({study.name})", far, frr, hter, ours, ours - hter))
    return Table(
        "Tables 3.2 and 3.5: the rates (%) from which the others follow",
        ("", "FAR", "FRR", "HTER published", "HTER ours", "difference"),
        tuple(rows),
        f"XM2VTS: {XM2VTS.negatives} impostor and {XM2VTS.positives} client accesses; NIST'2000: {NIST2000.negatives} "
        f"and {NIST2000.positives}.",
        digits=3,
    )


def published_tables(widths: dict[str, list[Compared]], tests: dict[str, list[Compared]]) -> list[Table]:
    titles = {
        "3.3": "Table 3.3: width (%) of the interval around model A (XM2VTS)",
        "3.4": "Table 3.4: do A and B differ? (XM2VTS)",
        "3.6": "Table 3.6: width (%) of the interval around model C (NIST'2000)",
        "3.7": "Table 3.7: do C and D differ? (NIST'2000)",
    }
    rows = {**widths, **tests}
    scores = "The sigma of the dependent test needs both systems' scores: only the confidence is checked, given sigma."
    notes = {"3.4": scores, "3.7": f"{scores} The printed table names its second row sigma squared; it holds sigma."}
    return [
        Table(title, HEADER, tuple(row.row(_digits(row.step)) for row in rows[number]), notes.get(number, ""))
        for number, title in titles.items()
    ]


def _digits(step: float) -> int:
    return round(-float(np.log10(step)))


def table_conclusions(widths: dict[str, list[Compared]], tests: dict[str, list[Compared]]) -> list[Conclusion]:
    found = []
    for number, rows in sorted({**widths, **tests}.items()):
        # Nothing is said of the sigma of the dependent test: it needs both systems' scores.
        but = ", but for the sigma of the dependent test, taken as printed," if number in tests else ""
        off = [row.label for row in rows if not row.agrees]
        largest = max(abs(row.ours - row.published) / row.step for row in rows)
        found.append(
            Conclusion(
                f"Table {number}: every number{but} comes out to the last printed digit that rounding of the inputs "
                "allows",
                not off,
                f"{len(rows)} numbers, the farthest {largest:.1f} units of its last digit away"
                + (f"; not explained by rounding: {', '.join(off)}" if off else ""),
            )
        )
    ratio = {number: rows[1].ours / rows[4].ours for number, rows in widths.items()}
    found.append(
        Conclusion(
            "The HTER interval is about ten times as wide as NAIVE's and CLASS's on XM2VTS, less drastic on NIST'2000",
            7 < ratio["3.3"] < 13 and 1 < ratio["3.6"] < 3,
            f"HTER over NAIVE at 95 %: {ratio['3.3']:.1f} and {ratio['3.6']:.1f}",
        )
    )
    verdict = ztest(0.0115, 0.025, 112_000, 400, far_b=0.0195, frr_b=0.0275)
    assert verdict.comparison is not None
    others = [float(verdict.comparison[name].confidence) for name in ("naive", "class")]
    found.append(
        Conclusion(
            "A and B on XM2VTS do not differ by the HTER test, and do by NAIVE and CLASS",
            verdict.significant is False and min(others) > 0.95,
            f"confidence {float(verdict.comparison['independent'].confidence):.1%}, against "
            f"{others[0]:.1%} and {others[1]:.1%}",
        )
    )
    return found
