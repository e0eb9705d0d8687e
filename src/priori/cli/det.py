"""``priori det``: DET curves of test scores, a posteriori."""

from priori.cli.roc import curve_command

command = curve_command("det")
