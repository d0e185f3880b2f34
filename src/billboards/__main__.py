"""`python -m billboards` is `billboards`."""

import sys

from billboards.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
