"""Downloads that are checked, resumed and atomic: a file is either not there or whole and right."""

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

__all__ = ["OpenMLFile", "cache_folder", "download", "openml_file"]

_ATTEMPTS = 3
_TIMEOUT = 30.0
_CHUNK = 1 << 18
_CUT = (http.client.HTTPException, urllib.error.URLError, ConnectionError, TimeoutError)


@dataclass(frozen=True)
class OpenMLFile:
    """Where OpenML keeps the file of a data set, and how to check it.

    Parameters
    ----------
    url
        Its address.
    md5
        Its checksum.
    target
        The name of the class attribute; None where OpenML names none.
    ignored
        Attributes that are no features: row numbers and the like.

    Examples
    --------
    >>> OpenMLFile("https://example.org/iris.arff", "d41d8cd98f00b204e9800998ecf8427e", "class").ignored
    ()
    """

    url: str
    md5: str
    target: str | None
    ignored: tuple[str, ...] = ()


def cache_folder() -> Path:
    """Give the folder for downloaded streams: STREAMGAUGE_CACHE, or that of the platform.

    Examples
    --------
    >>> import os
    >>> os.environ["STREAMGAUGE_CACHE"] = "somewhere"
    >>> cache_folder()
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


def openml_file(data_id: int) -> OpenMLFile:
    """Ask OpenML where the file of a data set is; STREAMGAUGE_OPENML names another server."""
    server = os.environ.get("STREAMGAUGE_OPENML", "https://www.openml.org").rstrip("/")
    url = f"{server}/api/v1/json/data/{data_id}"
    try:
        with urllib.request.urlopen(_request(url), timeout=_TIMEOUT) as answer:
            found = json.load(answer)["data_set_description"]
        target = found.get("default_target_attribute") or None
        ignored = (*_names(found.get("ignore_attribute")), *_names(found.get("row_id_attribute")))
        return OpenMLFile(found["url"], found["md5_checksum"].lower(), target, ignored)
    except _CUT as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        msg = f"OpenML does not answer ({url}: {_reason(error)})"
        raise StreamgaugeError(msg) from None
    except (KeyError, TypeError, AttributeError, ValueError):
        msg = f"OpenML gives no file and checksum for data set {data_id} ({url})"
        raise StreamgaugeError(msg) from None


def download(url: str, path: Path, *, md5: str, progress: bool | None = None) -> None:
    """Download a file; a part of it that an earlier run left is not fetched again.

    Parameters
    ----------
    url
        What to download.
    path
        Where to put it. It appears there only when all of it has come and its checksum is right.
    md5
        The checksum it must have.
    progress
        Whether to show a progress bar; None for only where standard error is a terminal.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    resumed = part.exists() and part.stat().st_size > 0
    _fetch(url, part, progress=progress)
    found = _md5(part)
    if found != md5 and resumed:
        # What an earlier run left may be of another version of the file: begin anew, once.
        part.unlink()
        _fetch(url, part, progress=progress)
        found = _md5(part)
    if found != md5:
        part.unlink()
        msg = f"{url} is damaged: its checksum is {found}, not {md5}; try again later"
        raise StreamgaugeError(msg)
    part.replace(path)


def _fetch(url: str, part: Path, *, progress: bool | None) -> None:
    """Fetch what is missing of a file, going on where a connection was cut."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            if _fetch_once(url, part, progress=progress):
                return
            reason = "the connection was cut"
        except urllib.error.HTTPError as error:
            error.close()
            msg = f"cannot download {url}: {_reason(error)}"
            raise StreamgaugeError(msg) from None
        except _CUT as error:
            reason = _reason(error)
        if attempt == _ATTEMPTS:
            have = part.stat().st_size if part.exists() else 0
            msg = f"the download of {url} stopped after {have:,} bytes ({reason}); run it again and it goes on there"
            raise StreamgaugeError(msg)


def _fetch_once(url: str, part: Path, *, progress: bool | None) -> bool:
    """Fetch the rest of a file; whether all of it has come."""
    have = part.stat().st_size if part.exists() else 0
    request = _request(url)
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        error.close()
        return True  # nothing follows what is there; the checksum says whether it is right
    with answer:
        goes_on = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        have = have if goes_on else 0
        length = answer.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        with part.open("ab" if goes_on else "wb") as file:
            done = _copy(answer, file, have, total, progress=progress)
    return total is None or done >= total


def _copy(
    answer: http.client.HTTPResponse, file: BinaryIO, done: int, total: int | None, *, progress: bool | None
) -> int:
    with progress_bar(total, shown=progress, unit="bytes") as advance_to:
        while chunk := answer.read1(_CHUNK):
            file.write(chunk)
            done += len(chunk)
            advance_to(done)
    return done


def _request(url: str) -> urllib.request.Request:
    if not url.startswith(("https://", "http://")):
        msg = f"{url} is not a web address"
        raise StreamgaugeError(msg)
    return urllib.request.Request(url, headers={"User-Agent": "streamgauge"})


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    return str(error.reason if isinstance(error, urllib.error.URLError) else error) or type(error).__name__


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _names(value: Any) -> tuple[str, ...]:  # noqa: ANN401  (a name, a list of names, or nothing)
    if not value:
        return ()
    names = value if isinstance(value, list) else str(value).split(",")
    return tuple(str(name).strip().strip('"') for name in names)
