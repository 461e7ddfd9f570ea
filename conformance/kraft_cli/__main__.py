"""`kraft-spec`, also as `python -m kraft_cli`: Ctrl-C ends it while it still loads as it does later."""

import sys

from kraft_conformance.exit_codes import interrupted


def main() -> int:
    """Run a command and return its exit code: see `ExitCode`."""
    try:
        # Imported where Ctrl-C is caught: it takes half a second.
        from kraft_cli.cli import main as run

        return run()
    except KeyboardInterrupt:
        return interrupted()


if __name__ == "__main__":
    sys.exit(main())
