"""The difference between two systems, and where it is more than chance."""

import matplotlib.pyplot as plt

import priori

faces = priori.examples.load("faces")
names = "eigenfaces", "fisherfaces"
a, b = (priori.epc(*faces.systems[name], name=name) for name in names)
comparison = priori.compare(a, b, n_resamples=2000, rng=0)

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
comparison.plot(ax=axes)
