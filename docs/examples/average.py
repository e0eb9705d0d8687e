"""The average ROC curve of people who each have a threshold of their own."""

import matplotlib.pyplot as plt

import priori

faces = priori.examples.load("faces")
average = priori.average(faces.systems["correlation"].test, by="user", method="vertical")

figure, axes = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
average.plot(ax=axes)
