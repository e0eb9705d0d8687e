"""The Expected Performance and Spoofability Curve: an EPC for each share omega of attacks among the negatives.

Chingovska, Anjos and Marcel, "Biometrics Evaluation Under Spoofing Attacks", IEEE TIFS 9(12), 2014. The threshold
minimises beta FAR_omega + (1 - beta) FRR on development data, with FAR_omega = omega IAPMR + (1 - omega) FAR; test data
show HTER_omega = (FAR_omega + FRR) / 2 and the IAPMR. At one omega that is an EPC whose negatives have weights
(`Mixture`), so thresholds are exact, and bands, comparisons and rankings are those of any EPC. The a-DCF
(Shim et al. 2024) is the same with the weights that its costs and priors give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from priori.base.above import above
from priori.base.alphas import as_fractions, grid
from priori.base.declarations import SIZE, TEXT, Cautions, Kept, Summary, Unsaved, record
from priori.base.errors import OptionError
from priori.base.options import Interval, Resample, ResamplingOptions
from priori.base.results import Result
from priori.base.types import Floats, Progress
from priori.curves.epc import EPC, epc
from priori.decisions.measure import Measure
from priori.decisions.measures import FAR, FRR
from priori.scores import BOUND, Scores, condense_all
from priori.scores.derived import weigh_attacks
from priori.scores.score_set import BY_ATTACK, as_score_set

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.bands.bands import SurfaceBand


def _sizes(scores: Scores) -> dict[str, int]:
    attacks = scores.n_attacks
    return {"impostors": scores.n_negatives - attacks, "attacks": attacks, "positives": scores.n_positives}


#: A set with attacks, of which a file says where it came from and how many trials of each kind it has.
AttackedSet = Annotated[
    Scores,
    Kept(
        record({"source": TEXT, **dict.fromkeys(("impostors", "attacks", "positives"), SIZE)}),
        lambda scores: {"source": scores.source, **_sizes(scores)},
    ),
]


class OverBoth:
    """What has a row for each omega and, within it, for each beta."""

    name: str
    omega: Floats
    beta: Floats

    @property
    def omegas(self) -> Floats:
        """The omegas, each once."""
        return np.asarray(self.omega[:: self.betas.size])

    @property
    def betas(self) -> Floats:
        """The betas, each once."""
        return np.asarray(self.beta[self.omega == self.omega[0]])

    def columns(self) -> dict[str, Any]:
        """Return the table, by the names of its columns."""
        raise NotImplementedError

    def surface(self, column: str = "value") -> Floats:
        """Return a column as a surface: omegas down, betas across."""
        return np.asarray(self.columns()[column]).reshape(self.omegas.size, self.betas.size)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve over omega or over beta, or the surface where there are several of both; return the axes."""
        return above(self, "plot")([self], ax=ax)


@dataclass(frozen=True, eq=False, repr=False)
class EPSC(Result, OverBoth):
    """An Expected Performance and Spoofability Curve: one row per omega and beta. Made by `epsc`.

    Attributes
    ----------
    omega, beta : ndarray
        The share of attacks among the negatives, and the weight of false acceptances against false rejections.
    threshold : ndarray
        The threshold chosen on the development set.
    far, frr, iapmr : ndarray
        On the test set: impostors accepted, genuine trials rejected, attacks accepted.
    far_omega, value : ndarray
        FAR_omega and HTER_omega on the test set.
    best : ndarray
        The HTER_omega that choosing the threshold on the test set itself would have shown.
    curves : tuple of EPC
        The curve over beta at each omega; each can be banded and compared as any EPC.
    attack_types : tuple of str
        The types of attacks in the test set.
    """

    name: str
    dev: AttackedSet
    test: AttackedSet
    curves: Unsaved[tuple[EPC, ...]]
    attack_types: tuple[str, ...]
    omega: Floats
    beta: Floats
    threshold: Floats
    far: Floats
    frr: Floats
    iapmr: Floats
    far_omega: Floats
    value: Floats
    best: Floats

    @property
    def sizes(self) -> dict[str, dict[str, int]]:
        """The impostors, attacks and positives of the development set (``dev``) and of the test set (``test``)."""
        return {"dev": _sizes(self.dev), "test": _sizes(self.test)}

    @cached_property
    def warnings(self) -> Summary[Cautions]:
        """Warnings about the scores: the warnings of the curve in the middle of the omegas."""
        return self.curves[len(self.curves) // 2].warnings

    def over_beta(self, omega: float) -> EPC:
        """Return the curve over beta at the nearest omega: an EPC, with its bands and comparisons."""
        return self.curves[int(np.argmin(np.abs(self.omegas - float(omega))))]

    def band(
        self,
        *,
        bootstrap: str | None = None,
        n_resamples: int | tuple[int, int] = 10_000,
        resample: Resample = "test",
        confidence_level: float = 0.95,
        interval: Interval | None = None,
        simultaneous: bool = False,
        rng: int | np.random.Generator | None = 0,
        shared_users: bool | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> SurfaceBand:
        """Return a bootstrap band around every curve over beta; the options: `priori.EPC.band`.

        A simultaneous band covers the curve of each omega, not all of them together.
        """
        drawn = bootstrap, n_resamples, resample, confidence_level, interval, simultaneous, rng, shared_users
        options = ResamplingOptions(*drawn)
        band: SurfaceBand = above(self, "band")(self, options, threads=threads, progress=progress)
        return band


def epsc(dev: Any, test: Any, *, omega: Any = None, beta: Any = "0.5", name: str = "system") -> EPSC:
    """Compute the Expected Performance and Spoofability Curve (Chingovska, Anjos and Marcel 2014).

    Parameters
    ----------
    dev, test : Scores or frame
        The development set, on which thresholds are chosen, and the test set; each with impostors and attacks.
    omega : number or list, optional
        Shares of attacks among the negatives, 0, 0.1, ..., 1 by default; 0.1 means one tenth.
    beta : number or list
        Weights of false acceptances, 0.5 by default.

    Examples
    --------
    >>> import priori
    >>> dev = priori.Scores.from_arrays([0.1, 0.2, 0.3], [0.5, 0.7, 0.9], attacks=[0.4, 0.6])
    >>> test = priori.Scores.from_arrays([0.1, 0.3, 0.4], [0.2, 0.8, 0.9], attacks=[0.3, 0.6])
    >>> curve = priori.epsc(dev, test, omega=[0, 0.5, 1], beta=0.5)
    >>> curve.threshold.round(2).tolist(), curve.iapmr.tolist(), curve.value.round(3).tolist()
    ([0.4, 0.45, 0.65], [0.5, 0.5, 0.0], [0.167, 0.292, 0.167])
    """
    (dev, _), (test, _) = condense_all([as_score_set(scores) for scores in (dev, test)], BY_ATTACK, narrow=BOUND)
    omegas = grid(11) if omega is None else as_fractions(omega, "omega")
    betas = as_fractions(beta, "beta")
    for text, given in (("omega", omegas), ("beta", betas)):
        if len(set(given)) < len(given):
            raise OptionError(f"the same {text} is given twice; give each once")
    curves = [
        epc(weigh_attacks(dev, share), weigh_attacks(test, share), alpha=list(betas), name=name) for share in omegas
    ]
    of_curve = {name: name for name in ("threshold", "value", "best")} | {
        "beta": "alpha",
        "frr": "v2",
        "far_omega": "v1",
    }
    columns = {name: np.concatenate([getattr(curve, own) for curve in curves]) for name, own in of_curve.items()}
    far, iapmr = (
        (len(part) - part.rejected(columns["threshold"])) / len(part)
        for part in (weigh_attacks(test, Fraction(share)).negative for share in (0, 1))
    )
    return EPSC(
        **columns,
        name=name,
        dev=dev,
        test=test,
        curves=tuple(curves),
        attack_types=tuple(np.unique(test.attacks[test.attacks != ""]).tolist()),
        omega=np.repeat([float(share) for share in omegas], len(betas)),
        far=far,
        iapmr=iapmr,
    )._came_from(test)


def adcf(
    dev: Any,
    test: Any,
    *,
    costs: Sequence[Any] = (1, 10, 20),
    priors: Sequence[Any] = ("0.9", "0.05", "0.05"),
    normalised: bool = True,
    name: str = "system",
) -> EPC:
    """Compute the architecture-agnostic detection cost (a-DCF; Shim et al. 2024), actual and minimum.

    a-DCF = C_miss P_target FRR + C_nontarget P_nontarget FAR + C_spoof P_spoof IAPMR: an EPSC at the omega and the
    beta that the weights give, times their sum. The curve that is returned has one point: ``value`` is the actual
    cost, its threshold chosen on development data, and ``best`` the minimum, chosen on the test data themselves.

    Parameters
    ----------
    costs, priors : sequence of three numbers
        For targets, nontargets and attacks. Default, as in the paper's code: costs 1, 10, 20 and priors 0.9, 0.05,
        0.05.
    normalised : bool
        Divide by the cost of the better of accepting all and rejecting all.

    Examples
    --------
    >>> import priori
    >>> scores = priori.Scores.from_arrays([0.1, 0.2, 0.3], [0.5, 0.7, 0.9], attacks=[0.4, 0.6])
    >>> cost = priori.adcf(scores, scores)
    >>> cost.threshold.round(2).tolist(), cost.value.round(3).tolist()
    ([0.65], [0.333])
    """
    omega, beta, total = adcf_weights(costs, priors)
    weight = float(beta)
    scale = float(total / (total * min(beta, 1 - beta) if normalised else 1))
    title = "Normalised a-DCF" if normalised else "a-DCF"
    measure = Measure("a-dcf", title, lambda o, alpha: scale * (weight * FAR(o) + (1 - weight) * FRR(o)), rate=False)
    sets = [weigh_attacks(as_score_set(scores), omega) for scores in (dev, test)]
    return epc(*sets, alpha=[beta], measure=measure, name=name)


def adcf_weights(costs: Sequence[Any], priors: Sequence[Any]) -> tuple[Fraction, Fraction, Fraction]:
    """Return the omega and beta at which an EPSC is the a-DCF of three costs and priors, and what to multiply by."""
    try:
        miss, nontarget, spoof = (
            Fraction(str(cost)) * Fraction(str(prior)) for cost, prior in zip(costs, priors, strict=True)
        )
    except (ValueError, ZeroDivisionError):
        typed = " and ".join(", ".join(str(each) for each in numbers) for numbers in (costs, priors))
        raise OptionError(f"costs and priors must be three numbers each, not {typed}") from None
    total = sum((Fraction(str(prior)) for prior in priors), Fraction(0))
    if abs(total - 1) > Fraction(1, 10**6):
        raise OptionError(f"the three priors must add up to 1, not {float(total):g}")
    alarm = nontarget + spoof
    if min(miss, alarm) <= 0 or min(nontarget, spoof) < 0:
        raise OptionError("costs and priors must be positive; those of nontargets or of attacks, not both, may be 0")
    return spoof / alarm, alarm / (miss + alarm), miss + alarm
