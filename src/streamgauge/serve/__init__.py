"""The dashboard: a web page that shows running evaluations live, and finished ones.

It needs the extra ``serve``, which is imported only when a page is served.
"""

from streamgauge.serve.run_folders import RunFolders
from streamgauge.serve.server import Settings, serve

__all__ = ["RunFolders", "Settings", "serve"]
