"""Draw the paper's first figure from the bundled scores: python paper/figure.py (make paper)."""

from __future__ import annotations

from pathlib import Path

import priori
from priori.plots import plot_epc, save

if __name__ == "__main__":
    systems = priori.examples.load("texts").systems
    curves = [priori.epc(*systems[name], name=name) for name in ("babbage", "gpt-3.5")]
    axes = plot_epc(curves, bands=[curve.band(rng=0) for curve in curves])
    save(axes, Path(__file__).with_name("curves.svg"))
