"""Make the scores of two systems on the same trials, three cases: scores.csv."""

from pathlib import Path

import numpy as np

CASES = {
    # name: negatives, positives, shift of A, shift of B, decimals kept (ties), share of common noise
    "correlated": (70, 50, 1.5, 1.1, 6, 0.6),
    "tied": (60, 40, 1.2, 0.8, 0, 0.5),
    "near-perfect": (50, 30, 4.0, 3.0, 6, 0.2),
}


def main() -> None:
    rng = np.random.default_rng(1988)
    lines = ["case,label,a,b"]
    for case, (negatives, positives, shift_a, shift_b, decimals, share) in CASES.items():
        label = np.repeat([0, 1], [negatives, positives])
        common = rng.normal(0, np.sqrt(share), label.size)
        a, b = (
            np.round(shift * label + common + rng.normal(0, np.sqrt(1 - share), label.size), decimals) + 0.0
            for shift in (shift_a, shift_b)
        )
        lines += [f"{case},{y},{x:.6f},{z:.6f}" for y, x, z in zip(label, a, b, strict=True)]
    Path(__file__).with_name("scores.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
