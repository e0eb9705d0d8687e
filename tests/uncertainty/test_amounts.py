"""Costs by amounts: thresholds against all gaps in exact fractions, intervals against a bootstrap and by simulation."""

from __future__ import annotations

import io
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import priori
from priori import InputError, OptionError, Scores
from priori.cli import cli

PRICES = st.sampled_from([0, 0.1, 1, "1/3", 2.5, "amount", 10**15])
AMOUNTS = st.one_of(
    st.integers(0, 4).map(float), st.sampled_from([0.1, 0.2, 0.3, 12.5, 1e18]), st.floats(0, 1e6, allow_subnormal=False)
)
#: Rows of a class, a score and an amount; the first two are of different classes.
ROWS = st.lists(
    st.tuples(st.integers(0, 1), st.one_of(st.integers(0, 5).map(float), st.just(-np.inf)), AMOUNTS), max_size=12
).map(lambda rows: [(0, 1.0, 3.0), (1, 2.0, 0.3), *rows])


def cost(rows: Any, fp: Any, threshold: float) -> Fraction:
    """Return what all errors at a threshold cost."""
    total = Fraction(0)
    for label, score, amount in rows:
        if label and score <= threshold:
            total += Fraction(repr(amount))
        elif not label and score > threshold:
            total += Fraction(repr(amount) if fp == "amount" else str(fp))
    return total


def brute(rows: Any, fp: Any) -> float:
    """Return the cheapest threshold of all gaps: ties to the smaller FAR + FRR, then to the lower one."""
    distinct = sorted({-np.inf, *(score for _, score, _ in rows)})
    tries = [-np.inf, *((low + high) / 2 for low, high in pairwise(distinct[1:])), np.inf]
    sizes = [sum(label == of for label, _, _ in rows) for of in (0, 1)]

    def key(threshold: float) -> tuple[Fraction, Fraction, float]:
        wrong = [sum(a == of and (s > threshold) != of for a, s, _ in rows) for of in (0, 1)]
        rates = Fraction(wrong[0], sizes[0]) + Fraction(wrong[1], sizes[1])
        return cost(rows, fp, threshold), rates, threshold

    return min(tries, key=key)


def made(rows: Any, **columns: Any) -> Scores:
    label, score, amount = zip(*rows, strict=True)
    return Scores.from_predictions(np.array(label), np.array(score), amount=amount, **columns)


@given(rows=ROWS, fp=PRICES)
def test_the_threshold_is_the_cheapest_of_all_gaps(rows: Any, fp: Any) -> None:
    scores = made(rows)
    found = priori.amounts(scores, scores, fp=fp)
    assert found.threshold == brute(rows, fp)
    assert found.dev_value == found.value == float(cost(rows, fp, found.threshold) / len(rows))
    assert found.reject_all == float(cost(rows, fp, np.inf) / len(rows))
    assert found.accept_all == float(sum(cost([row], fp, -np.inf) for row in rows if not row[0]) / len(rows)) or any(
        row[1] == -np.inf for row in rows
    )


def test_an_amount_is_the_decimal_that_was_typed() -> None:
    # In floats 0.1 + 0.2 is more than 0.3; as typed both thresholds cost the same, and the smaller FAR + FRR decides.
    rows = [(1, 1.0, 0.1), (1, 2.0, 0.2), (0, 3.0, 0.0), (1, 4.0, 9.0), (1, 5.0, 9.0), (1, 6.0, 9.0)]
    assert priori.amounts(made(rows), made(rows), fp="0.3").threshold == brute(rows, "0.3") == 3.5


def test_adding_amounts_up_does_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(0)
    rows = [(int(a), float(b), float(c)) for a, b, c in zip(*_trials(rng, 30, 1.5)[:3], strict=True)]
    shuffled = [rows[index] for index in rng.permutation(len(rows))]
    assert brute(rows, "0.7") == priori.amounts(made(rows), made(rows), fp=0.7).threshold
    one, other = (priori.amounts(made(each), made(each), fp=0.7) for each in (rows, shuffled))
    assert (one.threshold, one.value, one.fn_cost) == (other.threshold, other.value, other.fn_cost)


# -- intervals ---------------------------------------------------------------------------------------------------


def _trials(rng: np.random.Generator, users: int, tail: float, each: int = 20) -> tuple[NDArray[Any], ...]:
    """Trials of users unlike each other, in errors and in amounts, whose amounts have heavy tails."""
    user = np.repeat(np.arange(users), each)
    label = (rng.random(user.size) < 0.1).astype(int)
    label[0] = 1
    shift, size = rng.normal(0, 0.6, (2, users)), np.exp(rng.normal(0, 1, users))
    score = rng.normal(2.0 * label) + shift[label, user]
    return label, score, np.round(100 * size[user] * np.exp(rng.normal(0, tail, user.size)), 2), user


def _set(rng: np.random.Generator, users: int, tail: float = 1.0) -> Scores:
    label, score, amount, user = _trials(rng, users, tail)
    return Scores.from_predictions(label, score, amount=amount, user=user)


@pytest.mark.parametrize("dependence", ["none", "user"])
def test_the_deviation_is_that_of_a_bootstrap(dependence: Any) -> None:
    rng = np.random.default_rng(2)
    dev = _set(rng, 100)
    label, score, amount, user = _trials(rng, 100, 0.5)
    test = Scores.from_predictions(label, score, amount=amount, user=user)
    found = priori.amounts(dev, test, fp=5, dependence=dependence)
    costs = np.where(label == 1, amount * (score <= found.threshold), 5.0 * (score > found.threshold))
    assert found.value == pytest.approx(costs.mean())
    units = costs.reshape(100, -1).mean(axis=1) if dependence == "user" else costs
    means = [rng.choice(units, units.size).mean() for _ in range(2000)]
    assert found.sd == pytest.approx(np.std(means), rel=0.08)
    assert found.lower < found.value < found.upper


def test_intervals_cover_or_warn_where_few_carry_the_cost() -> None:
    rng = np.random.default_rng(3)
    dev = _set(rng, 200)
    threshold = priori.amounts(dev, dev, fp=5).threshold
    label, score, amount, _ = _trials(rng, 50_000, 1.0)
    truth = np.where(label == 1, amount * (score <= threshold), 5.0 * (score > threshold)).mean()
    found = [priori.amounts(dev, _set(rng, 100), fp=5) for _ in range(200)]
    held = np.array([each.lower <= truth <= each.upper for each in found])
    warned = [{"few-units", "no-errors"} & {caution.code for caution in each.warnings} for each in found]  # type: ignore[attr-defined]
    assert held.mean() > 0.91
    assert np.mean([bool(codes) for codes in warned]) > 0.95


def test_few_trials_that_carry_the_cost_are_said() -> None:
    rows = [(0, 0.0, 1.0), (1, 1.0, 1e6)] * 3 + [(0, 0.0, 1.0), (1, 1.0, 1.0)] * 50
    dev, test = made(rows), made([(1, -1.0, 1e6), (1, -1.0, 1.0), *rows])
    found = priori.amounts(dev, test, fp=5)
    assert [caution.code for caution in found.warnings if "carry the cost" in caution] == ["few-units"]  # type: ignore[attr-defined]
    assert found.carrying == pytest.approx(1.0, abs=1e-3)


def test_without_a_cost_there_is_no_interval() -> None:
    rows = [(0, 0.0, 1.0), (1, 1.0, 2.0)] * 5
    found = priori.amounts(made(rows), made(rows), fp=5)
    assert found.value == 0
    assert np.isnan([found.lower, found.upper]).all()
    assert "no-errors" in [caution.code for caution in found.warnings]  # type: ignore[attr-defined]


# -- what is given -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        ([1, -2, 3], "an amount is -2; amounts are numbers from 0"),
        ([1, np.nan, 3], "an amount is missing"),
        ([1, np.inf, 3], "an amount is inf"),
        ([1, None, 3], "an amount is missing"),
        (["1", "ten", "3"], "every amount must be a number"),
        (["1", "", "3"], "every amount must be a number"),
        ([1, 2], "2 values for 3 scores"),
    ],
)
def test_bad_amounts_are_refused(amount: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Scores.from_predictions([0, 1, 1], [0.1, 0.2, 0.3], amount=amount)


@pytest.mark.parametrize("fp", [-1, "amounts", None, np.nan, "1e9999", True, np.inf])
def test_a_price_is_a_number_or_the_own_amount(fp: Any) -> None:
    rows = [(0, 0.0, 1.0), (1, 1.0, 2.0)]
    with pytest.raises(OptionError, match="a false positive costs a number from 0 up or its own amount"):
        priori.amounts(made(rows), made(rows), fp=fp)


def test_trials_without_amounts_are_refused() -> None:
    rows = [(0, 0.0, 1.0), (1, 1.0, 2.0)]
    without = Scores.from_arrays([0.1], [0.2])
    with pytest.raises(InputError, match="the trials have no amounts; name their column"):
        priori.amounts(made(rows), without, fp=1)


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_scanned_trials_cost_what_those_in_memory_do(tmp_path: Path, kind: str) -> None:
    pd, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    rng, columns = np.random.default_rng(8), {"amount": "euros"}
    sets = []
    for name in ("dev", "test"):
        label = rng.integers(0, 2, 300)
        euros = np.round(rng.lognormal(3, 1, 300), 2)
        table = pd.DataFrame(
            {"label": label, "score": rng.normal(label), "user": rng.integers(0, 40, 300), "euros": euros}
        )
        given: Any = tmp_path / f"{name}.{kind}"
        if kind == "frame":
            given = duckdb.from_df(table)
        else:
            table.to_csv(given, index=False) if kind == "csv" else table.to_parquet(given)
        sets.append((given, Scores.from_frame(table, columns=columns)))
    scanned = priori.amounts(*(priori.scan(given, columns=columns) for given, _ in sets), fp="2.50")
    expected = priori.amounts(*(known for _, known in sets), fp="2.50")
    for name in ("threshold", "fp", "fn", "fp_cost", "fn_cost", "value", "sd", "lower", "upper", "people"):
        assert getattr(scanned, name) == getattr(expected, name)
    with pytest.raises(InputError, match="the trials have no amounts; name their column"):
        priori.amounts(*(priori.scan(given) for given, _ in sets), fp=1)
    with pytest.raises(InputError, match="an amount is -"):
        priori.amounts(*(priori.scan(given, columns={"amount": "score"}) for given, _ in sets), fp=1)
    if kind != "frame":
        typed = [str(given) for given, _ in sets] + ["--column", "amount=euros", "--fp", "2.50", "--format", "csv"]
        in_memory, by_duckdb = (
            CliRunner().invoke(cli, ["amounts", *typed, "--engine", engine]) for engine in ("memory", "duckdb")
        )
        assert by_duckdb.exit_code == 0
        assert by_duckdb.stdout == in_memory.stdout


def test_files_and_frames_have_amounts() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"label": [0, 1, 0, 1], "score": [0.1, 0.2, 0.3, 0.4], "euros": [1.25, 2.1, 0, 1e-7]})
    columns = {"amount": "euros"}
    parquet = io.BytesIO()
    table.to_parquet(parquet)
    read = [
        priori.read(io.BytesIO(table.to_csv(index=False).encode()), source="dev.csv", columns=columns),
        priori.read(io.BytesIO(parquet.getvalue()), source="dev.parquet", columns=columns),
        Scores.from_frame(table, columns=columns),
        Scores.from_predictions(table["label"], table["score"], amount=table["euros"]),
    ]
    for scores in read:
        assert scores.negative.amount is not None
        assert scores.positive.amount is not None
        assert (scores.negative.amount.tolist(), scores.positive.amount.tolist()) == ([1.25, 0.0], [2.1, 1e-7])


def test_distances_have_the_threshold_as_a_distance() -> None:
    rows = [(1, 0.0, 1.0), (0, 1.0, 2.0)] * 3
    distances = made(rows, lower_is_better=True)
    found = priori.amounts(distances, distances, fp=1)
    assert (found.threshold, found.columns()["threshold"].tolist()) == (-0.5, [0.5])


# -- two systems -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dependence", ["none", "user"])
def test_the_difference_of_two_costs_is_that_of_paired_trials(dependence: Any) -> None:
    rng = np.random.default_rng(5)
    label, score, amount, user = _trials(rng, 120, 0.5)
    other = score + rng.normal(0, 0.5, score.size)
    sets = [Scores.from_predictions(label, each, amount=amount, user=user) for each in (score, other)]
    a, b = (priori.amounts(_set(np.random.default_rng(6), 100), each, fp=5, dependence=dependence) for each in sets)
    found = priori.compare_amounts(a, b)
    costs = [
        np.where(label == 1, amount * (each <= of.threshold), 5.0 * (each > of.threshold))
        for each, of in ((score, a), (other, b))
    ]
    apart = costs[0] - costs[1]
    assert found.difference[0] == pytest.approx(a.value - b.value) == pytest.approx(apart.mean())
    units = apart.reshape(120, -1).mean(axis=1) if dependence == "user" else apart
    means = [rng.choice(units, units.size).mean() for _ in range(2000)]
    assert found.sd[0] == pytest.approx(np.std(means), rel=0.08)
    assert found.sd[0] < np.hypot(a.sd, b.sd)
    assert found.lower[0] < found.difference[0] < found.upper[0]
    same = priori.compare_amounts(a, a)
    assert (same.difference[0], same.p_value[0]) == (0, 1)


def test_costs_are_compared_in_one_currency_at_one_price_and_few_carriers_are_said() -> None:
    rows = [(0, 0.0, 1.0), (1, 1.0, 1.0)] * 50
    a, b = (priori.amounts(made(rows), made(rows), fp=fp) for fp in (1, 2))
    with pytest.raises(OptionError, match="different costs or currencies"):
        priori.compare_amounts(a, b)
    missed = priori.amounts(made(rows), made([(1, -1.0, 1e6), (1, -1.0, 1.0), *rows[2:], (0, 0.0, 1.0)]), fp=1)
    other = priori.amounts(made(rows), made([(1, 2.0, 1e6), (1, 2.0, 1.0), *rows[2:], (0, 0.0, 1.0)]), fp=1)
    found = priori.compare_amounts(missed, other)
    assert any("carry the difference" in caution for caution in found.warnings)
