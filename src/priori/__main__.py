"""``python -m priori`` and the command ``priori``: what ends it is heard before anything else is imported."""

from priori.base.signals import ending_at_once


def main() -> None:
    """Run the command line."""
    with ending_at_once():
        from priori.cli import main as run
    run()


if __name__ == "__main__":
    main()
