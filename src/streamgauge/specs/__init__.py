"""Objects by name: what a person writes on the command line or into a file, and what it stands for."""

from streamgauge.specs.families import FAMILIES
from streamgauge.specs.objects import require_object
from streamgauge.specs.streams import find_labelled_stream, find_stream
from streamgauge.specs.texts import Known, catalogue, make

__all__ = ["FAMILIES", "Known", "catalogue", "find_labelled_stream", "find_stream", "make", "require_object"]
