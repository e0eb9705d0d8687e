"""Curves: the Expected Performance Curve and its areas; ROC and DET, a posteriori; averages of many curves."""
