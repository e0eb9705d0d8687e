"""What choosing the threshold on the test scores themselves would have shown."""

import matplotlib.pyplot as plt

import priori

faces = priori.examples.load("faces")
curve = priori.epc(*faces.systems["fisherfaces"])

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(curve.alpha, 100 * curve.value, label="a priori: threshold from development people")
axes.plot(curve.alpha, 100 * curve.best, "--", label="a posteriori: threshold from the test people")
axes.fill_between(curve.alpha, 100 * curve.best, 100 * curve.value, alpha=0.2, label="optimism")
axes.set(xlabel="alpha", ylabel="HTER (%)", ylim=(0, None))
axes.legend(frameon=False)
