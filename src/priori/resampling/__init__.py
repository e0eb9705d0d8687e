"""Bootstrap bands: what is redrawn (plans), how (streams, urns, kernels), and intervals from the replicates."""

from priori.resampling.bands import Band, band
from priori.resampling.plans import BOOTSTRAPS

__all__ = ["BOOTSTRAPS", "Band", "band"]
