"""What choosing the threshold on the test scores themselves would have shown."""

import matplotlib.pyplot as plt

import priori

faces = priori.examples.load("faces")
# The measure is the criterion itself, so that no threshold does better than the best.
curve = priori.epc(*faces.systems["fisherfaces"], measure="wer")
known, unknowable = 100 * curve.value, 100 * curve.best

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(curve.alpha, known, label="a priori: development people")
axes.plot(curve.alpha, unknowable, "--", label="a posteriori: the test people")
axes.fill_between(curve.alpha, unknowable, known, alpha=0.2, label="optimism")
axes.set(xlabel="alpha", ylabel="weighted error rate (%)", ylim=(0, None))
axes.legend(frameon=False, title="threshold chosen on")
