"""The app: the report page with a form to upload scores, progress, settings, downloads."""
