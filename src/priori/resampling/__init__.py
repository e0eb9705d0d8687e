"""Bootstrap bands: what is redrawn (plans), how (streams, urns, kernels), and intervals from the replicates."""

from priori.resampling.bands import Band, band
from priori.resampling.plans import BOOTSTRAPS
from priori.resampling.roc import RateBands, RocBand, rate_bands, roc_band
from priori.resampling.summaries import AreaBands, Conjecture, area_bands, check_conjecture

__all__ = [
    "BOOTSTRAPS",
    "AreaBands",
    "Band",
    "Conjecture",
    "RateBands",
    "RocBand",
    "area_bands",
    "band",
    "check_conjecture",
    "rate_bands",
    "roc_band",
]
