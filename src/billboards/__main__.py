"""`python -m billboards` is `billboards`; from Python, `main` runs a command line and returns its exit code."""

import sys

from billboards.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
