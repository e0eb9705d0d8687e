"""A measure, criterion or task of the caller's own is marked in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import oracle
import priori
from priori.base.results import Result
from priori.decisions.criteria import CRITERIA, get_criterion
from priori.decisions.measures import MEASURES, dcf, f_beta, get_measure, wer
from priori.decisions.recipe import custom
from priori.decisions.tasks import TASKS
from priori.saving.documents import schema
from results import curves

A, B = curves(points=3)
OWN_MEASURE = priori.Measure.custom(lambda outcomes: outcomes.fp + 5 * outcomes.fn, name="hter")
FAR, FRR = TASKS["authentication"].v1, TASKS["authentication"].v2
OWN_TASK = priori.Task("authentication", FRR, FAR, OWN_MEASURE)


def own_criterion(outcomes: priori.Outcomes, alpha: float) -> Any:
    return outcomes.fp + alpha * outcomes.fn


def test_what_is_ours_is_told_by_its_name() -> None:
    names = ("wer:0.3", "f2", "f-beta:0.5", "dcf:prior=0.5,cost_fp=2", "ndcf:prior=0.1", "npv:prior=0.125")
    for name in (*MEASURES, *names):
        assert custom(measure=get_measure(name)) == ()
    for measure in (wer(0.25), f_beta(2), dcf(1, 1, 0.5), dcf(prior=0.2, cost_fp=3.0, normalised=True)):
        assert custom(measure=measure) == ()
    for task in TASKS.values():
        assert custom(task=task) == ()
        for name in (*CRITERIA, "at-most-far:0.95", "target-fnr", "max:f1:prior=0.01", "min:cost:fn=9,fp=1,prior=0.1"):
            named = oracle.named(name, task.name) if name in CRITERIA else name
            assert custom(task, get_criterion(named, task)) == ()


@pytest.mark.parametrize(
    ("things", "marked"),
    [
        ({"measure": OWN_MEASURE}, ["measure"]),
        ({"measure": priori.Measure("wer:0.3", "W", lambda o, alpha: o.fp)}, ["measure"]),
        ({"task": OWN_TASK}, ["task"]),
        ({"criterion": get_criterion(own_criterion)}, ["criterion"]),
        # Of another task: V1 and V2 of the criterion are not those that its name would give.
        ({"task": TASKS["authentication"], "criterion": get_criterion("target-v1", "retrieval")}, ["criterion"]),
        # Its name has fewer digits than it: a file would give back a neighbour.
        ({"measure": wer(0.123456789)}, ["measure"]),
    ],
)
def test_what_is_not_ours_is_marked(things: dict[str, Any], marked: list[str]) -> None:
    assert custom(**things) == tuple(marked)


def _results() -> dict[str, tuple[Result, dict[str, Any]]]:
    """Results with something of one's own, and what must be handed in."""
    own = {"task": OWN_TASK, "criterion": own_criterion, "measure": OWN_MEASURE}
    curve = priori.epc(A.dev, A.test, points=3, **own)
    linear = priori.Measure.custom(
        lambda outcomes: outcomes.fp / outcomes.negatives + outcomes.fn / outcomes.positives, name="hter"
    )
    return {
        "EPC": (curve, own),
        "Band": (curve.band(n_resamples=10), own),
        "AverageEPC": (priori.average_epc(A.dev, A.test, points=3, **own), own),
        "ZTest": (priori.ztest(0.01, 0.02, 1000, 500, measure=linear), {"measure": linear}),
    }


@pytest.mark.parametrize("name", _results())
def test_results_with_things_of_ones_own(name: str, tmp_path: Path) -> None:
    result, own = _results()[name]
    text = result.to_json(tmp_path / "own.json")
    content = json.loads(text)
    assert content["custom"] == [kind for kind in ("task", "criterion", "measure") if kind in own]
    jsonschema.Draft202012Validator(schema(name)).validate(content)
    assert Result.from_json(text).to_json() == text
