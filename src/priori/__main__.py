"""``python -m priori`` and the command ``priori``: what ends it is heard before anything else is imported."""

import os
import sys


def main() -> None:
    """Run the command line."""
    try:
        _fill_streams()
        from priori.base.temporary import end_on_signals

        end_on_signals()
        from priori.cli import main as run
    except Exception as error:  # no open file, no thread or no memory is left
        print(f"priori: error: cannot start: {str(error) or 'not enough memory'}".split("\n")[0], file=sys.stderr)
        sys.exit(3)
    run()


def _fill_streams() -> None:
    """Let no file that is opened later be taken for a standard stream that is closed."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one


if __name__ == "__main__":
    main()
