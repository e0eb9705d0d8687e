"""The first screen in words: the answer, its mark, what to deploy, the gravest caution."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import priori
import small_studies
from priori.base.cautions import Caution
from priori.decisions.tasks import TASKS
from priori.report import render_html
from priori.scores import Scores
from priori.scores.systems import System
from priori.studies.evaluation import Settings, Study, make_study
from priori.studies.evaluation.pairs import against_best
from priori.words.cautions import cautions
from priori.words.headline import advice, chosen_elsewhere, deployment, dots, gravest, headline
from priori.words.numbers import per_thousand_range
from priori.words.vocabulary import GLOSSARY, PLAIN, WORDS, study_words


@pytest.fixture(scope="module")
def clear() -> Study:
    return small_studies.study(2.5, 1.0)


def test_a_clear_answer(clear: Study) -> None:
    answer = headline(clear, clear.at)
    a, b = (1000 * curve.value[clear.at] for curve in clear.curves)
    assert answer.text == f"A is better than B: about {a:.0f} errors in 1,000 against {b:.0f}"
    assert (answer.mark, answer.why) == ("clear", "95 % confidence")


def test_an_answer_that_is_not_clear() -> None:
    study = small_studies.study(2.0, 2.1)
    answer = headline(study, study.at)
    first = "AB"[study.order_at(study.at)[0]]
    assert answer.text.startswith(f"{first} and {'B' if first == 'A' else 'A'} cannot be distinguished: about ")
    assert answer.mark == "not clear"


def test_equal_amounts_are_said_once() -> None:
    (one,) = small_studies.systems(2.0)
    study = make_study([replace(one, name=name) for name in "AB"], Settings(n_resamples=200, points=5))
    errors = 1000 * study.curves[0].value[study.at]
    assert headline(study, study.at).text == (
        f"A and B cannot be distinguished: both about {errors:.0f} errors in 1,000"
    )


def test_several_systems() -> None:
    study = small_studies.study(2.5, 2.4, 0.5)
    answer = headline(study, study.at)
    first, second, third = ("ABC"[place] for place in study.order_at(study.at))
    assert answer.text.startswith(f"{first} comes first with about ")
    assert answer.mark == "not clear"
    assert answer.why == f"{first} cannot be distinguished from {second}; it is better than {third}"
    letters = {"ABC"[place]: text[-1] for place, text in enumerate(dots(study, study.at))}
    assert letters == {first: "a", second: "a", third: "b"}


def test_one_system_and_no_bootstrap() -> None:
    one = small_studies.study(2.5, bootstrap=None)
    assert headline(one, one.at).mark is None
    two = small_studies.study(2.5, 1.0, bootstrap=None)
    answer = headline(two, two.at)
    assert answer.mark == "not tested"
    assert answer.text.startswith("On this test set A comes first with about ")
    assert [len(text) for text in dots(two, two.at)] == [1, 1]


def test_numbers_that_look_alike_are_told_apart() -> None:
    negatives, positives = np.arange(10_000) / 10_000, 0.5 + np.arange(10_000) / 10_000
    shifted = positives.copy()
    shifted[6000:6004] -= 0.9
    systems = [
        System(name, Scores.from_arrays(negatives, many), Scores.from_arrays(negatives, many[::2]))
        for name, many in (("A", positives), ("B", shifted))
    ]
    study = make_study(systems, Settings(bootstrap=None, points=3))
    first, second = np.sort([1000 * curve.value[study.at] for curve in study.curves])
    assert f"{first:.0f}" == f"{second:.0f}"
    text = headline(study, study.at).text
    assert text.count(f"{first:.1f}") == text.count(f"{second:.1f}") == 1


def test_data_that_are_not_what_they_are_taken_for() -> None:
    scores = small_studies.scores(2.0, 1)
    study = make_study([System("A", scores, scores)], Settings(bootstrap=None, points=3))
    answer = headline(study, study.at)
    assert (answer.mark, answer.why) == ("do not trust", "development and test set are the same")
    caution = gravest(study, study.at, cautions(study))
    assert caution is not None
    assert caution.code == "same-data"


def test_what_to_deploy_is_what_the_library_says() -> None:
    study = small_studies.study(1.0, 2.5, sizes={"users": 20})
    for index in (3, study.at):
        card = deployment(study, index)
        curve = study.curves[1]
        assert card.name == "B"
        assert float(card.threshold) == pytest.approx(float(curve.threshold[index]), rel=1e-5)
        missed, let_in = (
            priori.rate_interval(curve.test, float(curve.threshold[index]), rate=rate) for rate in ("frr", "far")
        )
        for line, found in zip(card.lines, (missed, let_in), strict=True):
            assert float(line.number) == pytest.approx(1000 * found.rate, abs=0.5)
            low, high = map(float, line.interval.split(" to "))
            assert low <= 1000 * found.lower <= low + 1
            assert high - 1 <= 1000 * found.upper <= high
        assert [line.who for line in card.lines] == ["positives", "negatives"]


def test_the_gravest_caution_moves_with_alpha() -> None:
    study = small_studies.study(2.5, points=21, bootstrap=None)
    shown = [gravest(study, index, cautions(study)) for index in range(21)]
    codes = {None if caution is None else caution.code for caution in shown}
    assert codes >= {"few-units"}
    assert len({str(caution) for caution in shown}) > 3


def test_other_domains_have_their_own_words() -> None:
    study = small_studies.study(2.5, 1.0, task="diagnosis")
    assert [line.who for line in deployment(study, study.at).lines] == ["ill people", "healthy people"]
    assert headline(study, study.at).text.startswith("A is better than B: balanced accuracy ")


def test_the_glossary_defines_what_it_uses() -> None:
    for term, meaning in GLOSSARY.items():
        assert meaning.endswith("."), term
        assert meaning[0].isupper(), term


def test_a_table_gives_the_intervals_of_the_trials_in_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    frames = []
    for name in ("dev", "test"):
        path, rows = tmp_path / f"{name}.csv", ["score,label,user"]
        for label, trials in ((0, 200), (1, 80)):
            rows += [
                f"{score!r},{label},u{number % 20}"
                for number, score in enumerate(rng.normal(2 * label, 1, trials).tolist())
            ]
        path.write_text("\n".join(rows) + "\n")
        frames.append(path)
    settings = Settings(bootstrap=None, points=5)
    sets = {"read": [priori.read(path) for path in frames], "scan": [priori.scan(path) for path in frames]}
    studies = {kind: make_study([System("A", *both)], settings) for kind, both in sets.items()}
    for index in range(5):
        cards = [deployment(study, index) for study in studies.values()]
        assert cards[0].lines == cards[1].lines
    threshold = float(studies["read"].curves[0].threshold[2])
    far = priori.rate_interval(sets["read"][1], threshold, rate="far")  # type: ignore[arg-type]
    assert deployment(studies["scan"], 2).lines[1].interval == per_thousand_range(far.lower, far.upper)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_its_words_and_only_known_people_are_impostors(task: str) -> None:
    study = small_studies.study(
        1.0, task=task, n_resamples=50, points=5, sizes={"negatives": 30, "positives": 30, "users": 6}
    )
    words = study_words(study)
    assert words == (PLAIN if task == "authentication" else WORDS[task])
    lines = [line.text for line in deployment(study, study.at).lines]
    assert lines[0].startswith(f"Of 1,000 {words.positives} about ")
    said = {caution.code: str(caution) for caution in cautions(study)}["few-units"]
    assert f"6 {words.people}" in said
    assert "impostor" not in render_html(study)


def test_impostors_are_known_where_trials_name_both_people() -> None:
    rng = np.random.default_rng(1)
    who = {"user": np.repeat(np.arange(10), 40), "probe_user": np.tile(np.arange(10), 40)}
    label = (who["user"] == who["probe_user"]).astype(int)
    sets = [Scores.from_predictions(label, rng.normal(2 * label), **who) for _ in range(2)]
    study = make_study([System("A", *sets)], Settings(bootstrap=None, points=5))
    assert [line.who for line in deployment(study, study.at).lines] == ["genuine users", "impostors"]


def test_attacks_are_not_called_impostors() -> None:
    rng = np.random.default_rng(1)
    sets = [
        Scores.from_arrays(rng.normal(0, 1, 500), rng.normal(4, 1, 300), attacks=rng.normal(3.5, 1, 200))
        for _ in range(2)
    ]
    study = make_study([System("A", *sets)], Settings(bootstrap=None, points=5))
    lines = {line.who: line for line in deployment(study, study.at).lines}
    assert list(lines) == ["genuine users", "impostors", "attacks"]
    threshold, negative = float(study.curves[0].threshold[study.at]), sets[1].negative
    assert negative.attack is not None
    for who, chosen in (("impostors", negative.attack == 0), ("attacks", negative.attack > 0)):
        accepted = 1000 * float((negative.score[chosen] > threshold).mean())
        assert float(lines[who].number) == pytest.approx(accepted, abs=0.5)
        low, high = map(float, lines[who].interval.split(" to "))
        assert low <= accepted <= high
    caution = gravest(study, study.at, cautions(study))
    assert caution is not None
    assert caution.code == "attacks-pooled"


def test_a_system_that_decides_nothing_is_not_to_be_used() -> None:
    study = small_studies.study(0.05, alpha="0.95")
    assert study.members[0].deployable[study.at] == "inf"
    answer = headline(study, study.at)
    assert answer.text == "A is no better here than rejecting every trial: do not use it"
    assert (answer.mark, advice(answer)) == ("do not use", "If you deploy")
    lines = deployment(study, study.at).lines
    assert [line.text for line in lines] == [
        "Of 1,000 positives 1,000 are rejected.",
        "Of 1,000 negatives 0 are accepted.",
    ]


def test_a_system_that_may_do_no_better_than_none_is_not_called_good() -> None:
    one = small_studies.study(0.05, sizes={"negatives": 2000, "positives": 2000})
    band = one.members[0].band
    assert band is not None
    assert one.curves[0].value[one.at] < 0.5 < band.upper[one.at]  # half of the trials err if all are accepted
    answer = headline(one, one.at)
    assert answer.text == "A may be no better here than accepting every trial"
    assert (answer.mark, advice(answer)) == ("not clear", "If you deploy")
    assert answer.why.endswith(" against 50.0 %")
    assert " (95 %: " in answer.why
    two = small_studies.study(0.05, 0.0, sizes={"negatives": 2000, "positives": 2000})
    assert headline(two, two.at).text.startswith("None of the 2 systems is clearly better here than ")
    clear = small_studies.study(2.5)
    assert "no better" not in headline(clear, clear.at).text
    assert advice(headline(clear, clear.at)) == "Deploy"
    none = Caution("no-errors", "no error among 120 positives at alphas 0.05 and 0.1: read the upper bound")
    assert all(rate.rate > 0 for rate in clear.members[0].rates[clear.at].values())
    assert gravest(clear, clear.at, [none]) is None  # here there are errors


def test_a_system_that_costs_more_than_none_is_not_to_be_used() -> None:
    dev, test = (small_studies.scores(2.0, seed) for seed in (0, 1))
    moved = Scores.from_arrays(test.negatives + 1, test.positives + 1)
    settings = Settings(costs="fn=3,fp=100", prior="0.001", n_resamples=400, points=5)
    study = make_study([System("A", dev, moved)], settings)
    curve, band = study.curves[0], study.members[0].band
    assert np.isfinite(curve.threshold[study.at])
    reject_all = 3 * 0.001
    assert band is not None
    assert curve.value[study.at] > reject_all
    answer = headline(study, study.at)
    assert answer.text.startswith("A is no better here than rejecting every trial")
    assert answer.why.endswith(" against 0.003")
    sure = band.lower[study.at] > reject_all
    assert answer.mark == ("do not use" if sure else "not clear")
    worse = small_studies.study(1.0, costs="fn=1,fp=1", prior="0.5")
    assert headline(worse, worse.at).text.startswith("A: cost per decision between ")
    # The FRR of accepting everybody is 0: nothing can beat that, and nobody wants it.
    rate = small_studies.study(1.0, measure="frr")
    assert headline(rate, rate.at).mark != "do not use"


def test_the_card_says_what_other_development_sets_choose() -> None:
    study = small_studies.study(2.0, sizes={"users": 60})
    member, found = study.members[0], priori.threshold_interval(study.curves[0].dev, alpha="0.5")
    assert {name: [side[study.at] for side in sides] for name, sides in member.threshold_ranges.items()} == {
        "new": [found.new_lower[0], found.new_upper[0]],
        "best": [found.best_lower[0], found.best_upper[0]],
        "good": [found.good_lower[0], found.good_upper[0]],
    }
    said = f"other development sets choose between {found.new_lower[0]:.4g} and {found.new_upper[0]:.4g}"
    assert chosen_elsewhere(member, study.at) == f"fixed in advance; {said}"
    assert chosen_elsewhere(member, 0) == "fixed in advance"  # nothing holds at alpha = 0
    alone = small_studies.study(2.0, bootstrap=None)
    assert chosen_elsewhere(alone.members[0], alone.at) == "fixed in advance"


def test_one_user_cannot_be_resampled() -> None:
    study = small_studies.study(2.0, sizes={"negatives": 5, "positives": 5, "users": 1})
    assert headline(study, study.at).text.endswith(": 10 trials are too few to settle this")
    assert "users-unused" not in {caution.code for caution in cautions(study)}


def test_few_users_settle_little() -> None:
    sizes = {"negatives": 18, "positives": 18, "users": 6}
    study = small_studies.study(4.0, sizes=sizes)
    member, band = study.members[0], study.members[0].band
    assert band is not None
    # The bounds of both rates allow for a user unlike these, and the interval of their mean does not.
    ends, rates = (band.lower[study.at], band.upper[study.at]), member.hter_bounds(study.at)
    low, high = per_thousand_range(min(ends[0], rates[0]), max(ends[1], rates[1])).split(" to ")
    answer = headline(study, study.at)
    assert answer.text == f"Between {low} and {high} errors in 1,000: 6 users are too few to settle this"
    assert (answer.mark, advice(answer)) == ("too few", "If you deploy")
    two = small_studies.study(4.0, 4.0, sizes=sizes)
    first = "AB"[two.order_at(two.at)[0]]
    assert headline(two, two.at).text.startswith(f"{first} comes first with between ")
    assert answer.why.startswith("allows for a next user unlike these; the 95 % interval is ")
    enough = small_studies.study(2.0, sizes={"users": 60})
    assert headline(enough, enough.at).mark is None


def test_many_systems_are_compared_with_the_one_expected_to_be_best() -> None:
    study = small_studies.study(*[2.0] * 10, names=tuple(f"system {number}" for number in range(10)), points=5)
    best, _, undecided = against_best(study.curves, study.pairs, 0)
    assert best != study.order_at(0)[0]
    assert undecided
    answer = headline(study, 0)
    assert answer.text.startswith(f"system {study.order_at(0)[0]} comes first with about ")
    assert answer.why.startswith(f"with other development sets system {best} is expected to be best; it cannot be ")
    assert answer.why.endswith(f" or {len(undecided) - 3} others")


def test_what_is_expected_to_be_worse_is_not_advised() -> None:
    study = small_studies.study(1.0, 4.0)
    assert advice(headline(study, study.at)) == "Deploy"
    (pair,) = study.pairs
    assert pair.expected is not None
    turned = replace(study, pairs=(replace(pair, expected=-pair.expected),))
    answer = headline(turned, turned.at)
    assert answer.text == "A is expected to be better than B"
    assert (deployment(turned, turned.at).name, advice(answer)) == ("B", "If you deploy")


def test_a_narrow_interval_of_few_users_settles_nothing() -> None:
    few = {"negatives": 600, "positives": 600, "users": 6}
    study = small_studies.study(2.0, sizes=few)
    band = study.members[0].band
    assert band is not None
    assert band.upper[study.at] - band.lower[study.at] < 0.1
    answer = headline(study, study.at)
    assert (answer.mark, answer.few) == ("too few", "6 users are too few to settle this")
    # Nor does a test between systems.
    two = small_studies.study(1.0, 4.0, sizes=few)
    assert two.pairs[0].significant is not None
    assert two.pairs[0].significant[two.at]
    answer = headline(two, two.at)
    assert answer.mark == "too few"
    assert answer.text.startswith("B comes first with between ")
    other = small_studies.study(2.0, sizes=few, measure="frr")
    answer = headline(other, other.at)
    assert answer.text.startswith("False rejection rate between ")
    assert answer.why.endswith("; no interval from so few is to be trusted")


def test_what_is_not_to_be_trusted_is_not_advised() -> None:
    scores = small_studies.scores(2.0, 1)
    other = Scores.from_arrays(9 + 5 * scores.negatives, 9 + 5 * scores.positives)
    same, scaled = (
        make_study([System("A", scores, test)], Settings(bootstrap=None, points=3)) for test in (scores, other)
    )
    for study, broken in ((same, True), (scaled, False)):
        answer = headline(study, study.at)
        assert (answer.mark, answer.broken, advice(answer)) == ("do not trust", broken, "If you deploy")
        assert (answer.text == "These data cannot tell what to expect") == broken
        card = re.search(r'<section class="deploy"[^>]*>', render_html(study))
        assert card is not None
        assert ("hidden" in card[0]) == broken
