"""Real streams by name: found, downloaded, resumed and checked, against a local server."""

import hashlib
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from streamgauge.errors import StreamgaugeError
from streamgauge.streams import DATASETS, load
from streamgauge.streams.download import download, query_openml

ROWS = "".join(f"{i},{i % 7},{'UP' if i % 3 else 'DOWN'}\n" for i in range(20_000))
ARFF = ("@relation e\n@attribute id numeric\n@attribute a numeric\n@attribute class {UP,DOWN}\n@data\n" + ROWS).encode()


class OpenML:
    """A server that behaves like OpenML, or as badly as a test wants."""

    def __init__(self):
        self.file, self.md5 = ARFF, hashlib.md5(ARFF).hexdigest()
        self.cut_after: list[int | None] = []
        self.ranges: list[str | None] = []
        self.knows_ranges = True
        self.description: dict[str, object] = {}
        self.url = ""

    def answer(self, request):
        if request.path == "/api/v1/json/data/151":
            found = {
                "url": f"{self.url}/electricity.arff",
                "md5_checksum": self.md5,
                "default_target_attribute": "class",
            }
            self.send(request, 200, json.dumps({"data_set_description": found | self.description}).encode())
        elif request.path == "/electricity.arff":
            self.send_file(request)
        else:
            self.send(request, 404, b"nothing here")

    def send_file(self, request):
        given = request.headers.get("Range")
        self.ranges.append(given)
        start = int(given.removeprefix("bytes=").removesuffix("-")) if given and self.knows_ranges else 0
        if start >= len(self.file):
            self.send(request, 416, b"")
            return
        cut = self.cut_after.pop(0) if self.cut_after else None
        self.send(request, 206 if start else 200, self.file[start:], cut=cut)

    @staticmethod
    def send(request, status, body, cut=None):
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body if cut is None else body[:cut])
        request.close_connection = True


@contextmanager
def serving(openml):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            openml.answer(self)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        openml.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield openml
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def openml(monkeypatch, tmp_path):
    with serving(OpenML()) as server:
        monkeypatch.setenv("STREAMGAUGE_OPENML", server.url)
        monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path / "cache"))
        monkeypatch.delenv("STREAMGAUGE_DATA", raising=False)
        for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(proxy, raising=False)
        yield server


def test_a_stream_is_downloaded_once(openml):
    stream = load("electricity", progress=False)
    assert (stream.n_rows, stream.schema.classes) == (20_000, ("UP", "DOWN"))
    assert load("electricity", offline=True).n_rows == 20_000
    assert openml.ranges == [None]


def test_what_is_no_feature_is_left_out(openml):
    openml.description = {"row_id_attribute": "id"}
    assert [attribute.name for attribute in load("electricity", progress=False).schema.attributes] == ["a"]


def test_a_wrong_checksum_is_reported_and_nothing_is_kept(openml, tmp_path):
    openml.md5 = "0" * 32
    with pytest.raises(StreamgaugeError, match=f"its checksum is {hashlib.md5(ARFF).hexdigest()}, not 0000"):
        load("electricity", progress=False)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cut_connection_is_taken_up_again(openml):
    openml.cut_after = [100_000, 50_000]
    assert load("electricity", progress=False).n_rows == 20_000
    assert openml.ranges == [None, "bytes=100000-", "bytes=150000-"]


def test_a_run_that_gave_up_is_resumed_by_the_next(openml, tmp_path):
    openml.cut_after = [10_000, 0, 0]
    with pytest.raises(StreamgaugeError, match=r"stopped after 10,000 bytes .* run it again"):
        load("electricity", progress=False)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["electricity.arff.part"]
    openml.ranges.clear()
    assert load("electricity", progress=False).n_rows == 20_000
    assert openml.ranges == ["bytes=10000-"]


def test_a_server_without_ranges_sends_all_again(openml):
    openml.knows_ranges = False
    openml.cut_after = [10_000]
    assert load("electricity", progress=False).n_rows == 20_000


def test_the_rest_of_another_version_is_not_glued_on(openml, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "electricity.arff.part").write_bytes(b"@relation old\n" * 100)
    assert load("electricity", progress=False).n_rows == 20_000
    (tmp_path / "cache" / "other.arff.part").write_bytes(ARFF + b"too long")
    download(f"{openml.url}/electricity.arff", tmp_path / "cache" / "other.arff", md5=openml.md5, progress=False)
    assert (tmp_path / "cache" / "other.arff").read_bytes() == ARFF


def test_a_missing_file_and_a_strange_answer_are_reported(openml, tmp_path):
    with pytest.raises(StreamgaugeError, match="404"):
        download(f"{openml.url}/nothing", tmp_path / "x", md5="")
    with pytest.raises(StreamgaugeError, match=r"OpenML does not answer .*404"):
        query_openml(152)
    openml.description = {"md5_checksum": None}
    with pytest.raises(StreamgaugeError, match="has no file and checksum for data set 151"):
        query_openml(151)
    openml.description = {"url": "file:///etc/passwd"}
    with pytest.raises(StreamgaugeError, match="is not a web address"):
        load("electricity", progress=False)


def test_without_a_network_it_says_what_to_put_where(monkeypatch, tmp_path):
    monkeypatch.setenv("STREAMGAUGE_CACHE", str(tmp_path))
    monkeypatch.setenv("STREAMGAUGE_OPENML", "http://127.0.0.1:9")
    monkeypatch.delenv("STREAMGAUGE_DATA", raising=False)
    with pytest.raises(StreamgaugeError, match=r"electricity.arff .* in a folder and set STREAMGAUGE_DATA"):
        load("electricity")
    with pytest.raises(StreamgaugeError, match=r"no automatic download. Download it from https"):
        load("gmsc")
    monkeypatch.setenv("STREAMGAUGE_DATA", str(tmp_path / "data"))
    with pytest.raises(StreamgaugeError, match="not a folder"):
        load("gmsc")


def test_a_local_folder_comes_first(monkeypatch, tmp_path):
    (tmp_path / "COVTYPE.csv").write_text("a,class\n1,5\n2,7\n")
    monkeypatch.setenv("STREAMGAUGE_DATA", str(tmp_path))
    assert load("covertype").schema.classes == ("5", "7")
    assert load("covertype", target="a").schema.classes == ("1", "2")


def test_names_are_distinguished():
    with pytest.raises(StreamgaugeError, match=r"did you mean poker-hand\?"):
        load("pokerhand")
    assert all(name == one.name and one.citation and one.origin for name, one in DATASETS.items())
