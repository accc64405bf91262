"""`python -m terrapin_osm`: the command `terrapin`."""

import sys

from ._command import main

sys.exit(main())
