"""``priori epc``: Expected Performance Curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import priori
from priori.base.errors import OptionError
from priori.base.texts import alpha_text
from priori.base.texts import cell as percent
from priori.base.texts import cells as percents
from priori.cli.commands import CURVES, Asked, bands_around, make_command, output_group, resampling_options
from priori.cli.options import option
from priori.cli.output import Progress, table_of, table_text, tables_of, tell, verbose, with_bands
from priori.cli.systems import SYSTEMS
from priori.decisions.measures import NET_BENEFIT

#: The alphas that the summary shows when none are listed.
SHOWN = ("0.1", "0.25", "0.5", "0.75", "0.9")
FLATTERING = "A posteriori: at the threshold that is best on the test set. Optimism: how much better that looks."


@make_command("epc", SYSTEMS, CURVES, option("exact"), *resampling_options(None), output_group(plot="Draw the curves"))
def epc(asked: Asked) -> None:
    """Choose thresholds on development scores and show the performance on test scores.

    The csv columns are system, alpha, threshold, dev_v1, dev_v2, v1, v2, value, best: V1 and V2 are the task's
    pair (FAR and FRR for authentication), value is the measure on the test scores, best its value for a
    threshold chosen on the test scores themselves; with --bootstrap, lower and upper bound the value. Areas over
    all targets (docs/concepts/criteria.md) are in the json, and in tables with --verbose.

    \b
    Examples:
      priori epc --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv
      priori epc --system A a-dev.csv a-test.csv --format csv --points 11
      priori epc --system A a-dev.csv a-test.csv --preset sre05
      priori epc --system A a-dev.csv a-test.csv --plot epc.svg
      priori epc --system A a-dev.csv a-test.csv --bootstrap joint --resamples 100x100 --resample both
    """
    if asked.exact and asked.settings["alpha"]:
        raise OptionError("--exact has every alpha already; leave out --alpha")
    curves = asked.systems.curves({**asked.settings, "exact": asked.exact})
    bands = bands_around(curves, asked)
    with_areas = asked.output.format == "json" or (verbose() and asked.output.format != "csv")
    areas = [_areas(curve, asked) if with_areas else [] for curve in curves]
    if verbose() and any(curve.dev.scanned or curve.test.scanned for curve in curves):
        tell("no areas of scanned tables here: use --engine memory, or priori.areas in Python")
    asked.output.finish(
        curves,
        bands=bands,
        table=lambda: "\n".join([*_tables(curves, bands, asked.systems.folds), *_area_tables(curves, areas, asked)]),
        json=lambda: _content(curves, bands, areas),
        figure=lambda plots: plots.plot_epc(curves, bands=bands or None, best=len(curves) == 1),
    )


def _areas(curve: priori.EPC, asked: Asked) -> list[Any]:
    """Return the areas of a curve over all targets, and with a bootstrap their intervals: of scores in memory."""
    if asked.systems.folds is not None or curve.dev.scanned or curve.test.scanned:
        return []
    over: dict[str, Any] = {"task": curve.task, "bounds": asked.settings["bounds"]}
    found: list[Any] = [priori.areas(curve.dev, curve.test, **over)]
    if asked.resampling is not None:
        from priori.uncertainty.bands.bands import area_bands

        pointwise = replace(asked.resampling, simultaneous=False)
        with Progress(f"areas of {curve.name}") as progress:
            found.append(area_bands(curve.dev, curve.test, pointwise, **over, threads=asked.threads, progress=progress))
    return found


def _area_tables(curves: Sequence[priori.EPC], areas: Sequence[list[Any]], asked: Asked) -> Iterator[str]:
    limits = asked.settings["bounds"]
    over = "all targets" if [float(limit) for limit in limits] == [0, 1] else "targets from {} to {}".format(*limits)
    for curve, found in zip(curves, areas, strict=True):
        if found:
            v1, v2 = curve.task.v1.name, curve.task.v2.name
            title = (
                f"{curve.name}: expected ({v1} + {v2})/2 over {over} of {v1} (E_V1), of {v2} (E_V2), and of both (G)"
            )
            yield tables_of(found[-1], title=title)


def _content(curves: Sequence[priori.EPC], bands: Sequence[Any], areas: Sequence[list[Any]]) -> dict[str, Any]:
    first, contents = curves[0], []
    for curve, found in zip(curves, areas, strict=True):
        known = hasattr(curve, "fold") or (curve.criterion.exact and bool(found))
        expected = {name: getattr(found[0], name) if found else None for name in ("e_v1", "e_v2", "g")}
        content = {**curve.to_dict(), "areas": {"epc": curve.area if known else None, **expected}}
        contents.append({**content, "area_bands": found[1].to_dict()} if len(found) > 1 else content)
    settings = {
        "task": first.task.name,
        "criterion": first.criterion.name,
        "measure": first.measure.name,
        "exact": first.exact,
        "bounds": [float(bound) for bound in first.bounds],
    }
    return {"settings": settings, "systems": with_bands(contents, bands)}


def _tables(curves: list[priori.EPC], bands: list[priori.Band], folds: int | None) -> Iterator[str]:
    first = curves[0]
    measure, v1, v2 = first.measure, first.task.v1.name, first.task.v2.name
    points = [curve.at(list(first.fractions if 0 < len(first.fractions) <= 12 else SHOWN)) for curve in curves]
    on = "the development scores" if folds is None else f"the other {folds - 1} folds"
    rows = [[point.name, *percents(point.value, measure.rate)] for point in points]
    if first.criterion.alpha_name == "limit" and measure.name in (v1, v2):
        other, column = (v1, "v1") if measure.name == v2 else (v2, "v2")
        rows += [[f"{point.name}, {other}", *percents(getattr(point, column), True)] for point in points]
    if measure.name.startswith(NET_BENEFIT.name):
        extremes = zip(("(treat all)", "(treat none)"), points[0].at_extremes(), strict=True)
        rows += [[name, *percents(values, measure.rate)] for name, values in extremes]
    yield table_text(
        f"{measure.title} on the test scores; thresholds by {first.criterion.title}"
        + (f" on {on}" if first.criterion.reads_development else ""),
        ["", *(f"{first.criterion.alpha_name} {alpha_text(alpha)}" for alpha in points[0].alpha)],
        rows,
    )
    for band in bands:
        from priori.words.sentences import about_interval

        title = f"{band.curve.name}: {about_interval(band.settings)}"
        note = f"mean width {percent(band.expected_width, measure.rate)}"
        name = band.curve.criterion.alpha_name
        yield tables_of(band, title=title, without="mean", whole=False, note=note, alpha=name)
    middle = int(np.argmin(np.abs(points[0].alpha - 0.5)))
    columns = [point.columns() for point in points]
    at = {name: [own[name][middle] for own in columns] for name in columns[0]}
    optimism = [point.optimism[middle] for point in points]
    shown = {"": [point.name for point in points], "threshold": list(map("{:.6g}".format, at["threshold"]))}
    rates = {"dev_v1": f"dev {v1}", "dev_v2": f"dev {v2}", "v1": f"test {v1}", "v2": f"test {v2}"}
    shown |= {heading: percents(at[name]) for name, heading in rates.items()}
    shown[measure.title] = percents(at["value"], measure.rate)
    # Where the criterion is not the measure shown, its best is no lower bound.
    flattering = verbose() or min(optimism) >= 0
    if flattering:
        shown |= {"a posteriori": percents(at["best"], measure.rate), "optimism": percents(optimism, measure.rate)}
    where = f"{first.criterion.alpha_name} = {alpha_text(points[0].alpha[middle])}"
    yield table_of(f"Threshold to deploy at {where}, and its rates", shown, note=FLATTERING if flattering else "")
