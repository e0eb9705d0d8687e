"""Two systems at every trade-off, with 95 % bands that draw people."""

import matplotlib.pyplot as plt

import priori
from priori.plots import plot_epc

faces = priori.examples.load("faces")
names = "eigenfaces", "fisherfaces"
curves = [priori.epc(*faces.systems[name], name=name) for name in names]
bands = [curve.band(n_resamples=2000, rng=0) for curve in curves]

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
plot_epc(curves, ax=axes, bands=bands)
