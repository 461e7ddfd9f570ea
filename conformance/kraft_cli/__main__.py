"""`kraft-spec`, also as `python -m kraft_cli`: Ctrl-C ends it in the same way while it is still loading."""

import sys

from kraft_conformance.exit_codes import interrupted


def main() -> int:
    """Run a command and return its exit code: see `ExitCode`."""
    try:
        # Imported where Ctrl-C is caught, because it takes half a second.
        from kraft_cli.cli import main as run

        return run()
    except KeyboardInterrupt:
        return interrupted()


if __name__ == "__main__":
    sys.exit(main())
