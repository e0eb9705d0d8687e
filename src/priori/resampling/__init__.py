"""Bootstrap bands: what is redrawn (plans), how (streams, urns, kernels), and intervals from the replicates."""

from priori.resampling.areas import AreaBands, area_bands
from priori.resampling.bands import Band, band
from priori.resampling.plans import BOOTSTRAPS
from priori.resampling.roc import RateBands, RocBand, rate_bands, roc_band

__all__ = [
    "BOOTSTRAPS",
    "AreaBands",
    "Band",
    "RateBands",
    "RocBand",
    "area_bands",
    "band",
    "rate_bands",
    "roc_band",
]
