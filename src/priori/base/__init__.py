"""Base: what everything stands on. Errors, types, alphas, whole files, dataframes, what every result can do."""
