"""Reproduce tables and figures from papers: ``python -m papers`` is ``streamgauge reproduce``."""

import sys

from streamgauge.cli.main import main

if __name__ == "__main__":
    sys.argv.insert(1, "reproduce")
    main()
