"""``python -m priori`` and the command ``priori``: what ends it is heard before anything else is imported."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from priori.base.signals import ending_at_once

        with ending_at_once():
            from priori.cli import main as run
    except (ImportError, MemoryError, OSError) as error:  # no open file or no memory is left
        print(f"priori: error: cannot start: {str(error) or 'not enough memory'}".split("\n")[0], file=sys.stderr)
        sys.exit(2)
    run()


if __name__ == "__main__":
    main()
