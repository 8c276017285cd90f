"""Downloads that are verified, resumable and atomic: a file is either absent or complete and correct."""

import hashlib
import http.client
import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from streamgauge._format.progress_bar import progress_bar
from streamgauge.errors import StreamgaugeError

__all__ = ["OpenMLFile", "download", "locate_cache", "query_openml"]

_ATTEMPTS = 3
_TIMEOUT_SECONDS = 30.0
_CHUNK_BYTES = 1 << 18
_CONNECTION_ERRORS = (http.client.HTTPException, urllib.error.URLError, ConnectionError, TimeoutError)


@dataclass(frozen=True)
class OpenMLFile:
    """The file of a data set at OpenML.

    Parameters
    ----------
    url
        Address of the file.
    md5
        Checksum of the file.
    target
        Name of the class attribute; None if OpenML has none.
    ignored
        Attributes that are not features, such as row numbers.

    Examples
    --------
    >>> OpenMLFile("https://example.org/iris.arff", "d41d8cd98f00b204e9800998ecf8427e", "class").ignored
    ()
    """

    url: str
    md5: str
    target: str | None
    ignored: tuple[str, ...] = ()


def locate_cache() -> Path:
    """Return the folder for downloaded streams: STREAMGAUGE_CACHE, or the cache folder of the platform.

    Examples
    --------
    >>> import os
    >>> os.environ["STREAMGAUGE_CACHE"] = "somewhere"
    >>> locate_cache()
    PosixPath('somewhere')
    >>> del os.environ["STREAMGAUGE_CACHE"]
    """
    if given := os.environ.get("STREAMGAUGE_CACHE"):
        return Path(given)
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "streamgauge" / "cache"
    if (library := Path.home() / "Library" / "Caches").is_dir():
        return library / "streamgauge"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "streamgauge"


def query_openml(data_id: int) -> OpenMLFile:
    """Return address and checksum of a data set at OpenML, or at the server in STREAMGAUGE_OPENML."""
    server = os.environ.get("STREAMGAUGE_OPENML", "https://www.openml.org").rstrip("/")
    url = f"{server}/api/v1/json/data/{data_id}"
    try:
        with urllib.request.urlopen(_build_request(url), timeout=_TIMEOUT_SECONDS) as response:
            entry = json.load(response)["data_set_description"]
        target = entry.get("default_target_attribute") or None
        ignored = (*_parse_names(entry.get("ignore_attribute")), *_parse_names(entry.get("row_id_attribute")))
        return OpenMLFile(entry["url"], entry["md5_checksum"].lower(), target, ignored)
    except _CONNECTION_ERRORS as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        msg = f"OpenML does not answer ({url}: {_format_reason(error)})"
        raise StreamgaugeError(msg) from None
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        msg = f"OpenML has no file and checksum for data set {data_id} ({url})"
        raise StreamgaugeError(msg) from None


def download(url: str, path: Path, *, md5: str, progress: bool | None = None) -> None:
    """Download a file, resuming a partial download of an earlier run.

    Parameters
    ----------
    url
        Address of the file.
    path
        Path of the file; it appears there only when it is complete and its checksum is correct.
    md5
        Expected checksum.
    progress
        Whether to show a progress bar; None to show it if standard error is a terminal.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    resumed = part.exists() and part.stat().st_size > 0
    _fetch(url, part, progress=progress)
    checksum = _compute_md5(part)
    if checksum != md5 and resumed:
        # The partial download may be of another version of the file: restart once.
        part.unlink()
        _fetch(url, part, progress=progress)
        checksum = _compute_md5(part)
    if checksum != md5:
        part.unlink()
        msg = f"{url} is damaged: its checksum is {checksum}, not {md5}; try again later"
        raise StreamgaugeError(msg)
    part.replace(path)


def _fetch(url: str, part: Path, *, progress: bool | None) -> None:
    """Fetch the missing part of a file, retrying after a lost connection."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            if _fetch_once(url, part, progress=progress):
                return
            reason = "the connection was lost"
        except urllib.error.HTTPError as error:
            error.close()
            msg = f"cannot download {url}: {_format_reason(error)}"
            raise StreamgaugeError(msg) from None
        except _CONNECTION_ERRORS as error:
            reason = _format_reason(error)
        if attempt == _ATTEMPTS:
            n_bytes = part.stat().st_size if part.exists() else 0
            msg = f"the download of {url} stopped after {n_bytes:,} bytes ({reason}); run it again to resume"
            raise StreamgaugeError(msg)


def _fetch_once(url: str, part: Path, *, progress: bool | None) -> bool:
    """Fetch the rest of a file and return whether it is complete."""
    n_bytes = part.stat().st_size if part.exists() else 0
    request = _build_request(url)
    if n_bytes:
        request.add_header("Range", f"bytes={n_bytes}-")
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        error.close()
        return True  # there are no more bytes; the checksum decides whether the file is correct
    with response:
        resumed = response.status == http.HTTPStatus.PARTIAL_CONTENT
        n_bytes = n_bytes if resumed else 0
        length = response.headers.get("Content-Length")
        total = None if length is None else n_bytes + int(length)
        with part.open("ab" if resumed else "wb") as file:
            n_bytes = _copy(response, file, n_bytes, total, progress=progress)
    return total is None or n_bytes >= total


def _copy(
    response: http.client.HTTPResponse, file: BinaryIO, n_bytes: int, total: int | None, *, progress: bool | None
) -> int:
    """Append the body of a response to a file of `n_bytes` bytes and return its new size."""
    with progress_bar(total, shown=progress, unit="bytes") as advance_to:
        while chunk := response.read1(_CHUNK_BYTES):
            file.write(chunk)
            n_bytes += len(chunk)
            advance_to(n_bytes)
    return n_bytes


def _build_request(url: str) -> urllib.request.Request:
    if not url.startswith(("https://", "http://")):
        msg = f"{url} is not a web address"
        raise StreamgaugeError(msg)
    return urllib.request.Request(url, headers={"User-Agent": "streamgauge"})


def _format_reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    return str(error.reason if isinstance(error, urllib.error.URLError) else error) or type(error).__name__


def _compute_md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _parse_names(value: Any) -> tuple[str, ...]:  # noqa: ANN401  (a name, a list of names, or nothing)
    if not value:
        return ()
    names = value if isinstance(value, list) else str(value).split(",")
    return tuple(str(name).strip().strip('"') for name in names)
