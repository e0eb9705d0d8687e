"""The page, live: upload scores, see progress, change a setting, download the report."""
