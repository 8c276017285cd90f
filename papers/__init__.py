"""Tables and figures of the papers that this system is built from, done again beside what was published.

`REPRODUCTIONS` names them; `reproduce` does one, `streamgauge reproduce` does them from the command line.
"""

from papers.catalogue import REPRODUCTIONS
from papers.findings import Claim, Finding, Reproduction, Scale, Table
from papers.reproducing import Reproduced, names_of, reproduce

__all__ = ["REPRODUCTIONS", "Claim", "Finding", "Reproduced", "Reproduction", "Scale", "Table", "names_of", "reproduce"]
