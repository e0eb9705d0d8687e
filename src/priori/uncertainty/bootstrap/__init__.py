"""The bootstrap: what is resampled, random streams, kernels, running the replicates, calibration."""
