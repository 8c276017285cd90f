"""Tables and figures from the papers streamgauge is built on, reproduced next to the published values.

`REPRODUCTIONS` lists them by name. `reproduce` runs one; `streamgauge reproduce` and ``python -m papers`` run them from
the command line.
"""

from papers.catalogue import REPRODUCTIONS
from papers.findings import Claim, Finding, Reproduction, Scale, Table
from papers.reproducing import Reproduced, match_names, reproduce

__all__ = [
    "REPRODUCTIONS",
    "Claim",
    "Finding",
    "Reproduced",
    "Reproduction",
    "Scale",
    "Table",
    "match_names",
    "reproduce",
]
