"""``python -m priori`` is ``priori``."""

from priori.cli import main

main()
