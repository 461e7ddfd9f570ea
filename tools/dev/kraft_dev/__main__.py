"""`python -m kraft_dev`."""

import sys

from kraft_dev.cli import main

sys.exit(main())
