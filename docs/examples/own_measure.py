"""Minutes lost: a missed spam costs its reader one, a lost message ten."""

import matplotlib.pyplot as plt

import priori


def minutes(outcomes):
    return outcomes.fn + 10 * outcomes.fp


spam = priori.examples.load("spam")

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for name, (dev, test) in spam.systems.items():
    curve = priori.epc(dev, test, task="retrieval", measure=minutes)
    axes.plot(curve.alpha, curve.value, label=name)
axes.set(xlabel="alpha: how much precision weighs", ylabel="minutes", yscale="log")
axes.legend(frameon=False)
