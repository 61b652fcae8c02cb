import dataclasses
import socket
import time
from urllib.error import URLError
from urllib.request import Request

import pytest

from sero.benchmarks.download import LIMITS, Limits, _Redirects, download
from sero.errors import DataError

QUICK = Limits(connect_s=2.0, stall_s=0.3, total_s=0.6, max_bytes=1000)


def refused(url, limits=QUICK):
    started = time.monotonic()
    with pytest.raises(DataError) as error:
        download(url, limits)
    assert time.monotonic() - started < 5.0
    return str(error.value)


def raw(head, *, then=b"", pause_s=0.0, times=1):
    """A page that writes its own bytes, some of them slowly."""

    def answer(request):
        request.close_connection = True
        request.wfile.write(head)
        for _ in range(times):
            request.wfile.flush()
            time.sleep(pause_s)
            try:
                request.wfile.write(then)
            except OSError:
                return  # the client has had enough

    return answer


def test_a_file_comes_whole(site):
    site.pages["/a%20b.json"] = b"\x00\xff" * 100
    found = download(f"{site.url}/a%20b.json", QUICK)
    assert found.data == b"\x00\xff" * 100
    assert found.commit is None


def test_a_file_without_announced_size_comes_whole(site):
    site.pages["/a"] = raw(b"HTTP/1.0 200 OK\r\n\r\nab", then=b"cd", pause_s=0.05)
    assert download(f"{site.url}/a", QUICK).data == b"abcd"
    chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
    site.pages["/b"] = raw(chunks)
    assert download(f"{site.url}/b", QUICK).data == b"ab"


def test_the_commit_stands_on_the_redirect(site):
    def redirect(request):
        request.send_response(302)
        request.send_header("X-Repo-Commit", "abc")
        request.send_header("Location", "/elsewhere")
        request.end_headers()

    site.pages |= {"/file": redirect, "/elsewhere": b"x"}
    assert download(f"{site.url}/file", QUICK).commit == "abc"
    site.headers["X-Repo-Commit"] = "def"
    assert download(f"{site.url}/elsewhere", QUICK).commit == "def"


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (404, "not found (404); is the revision right?"),
        (401, "refused (401); the data there are not public"),
        (403, "refused (403)"),
        (429, "the server answered 429"),
        (503, "the server answered 503"),
    ],
)
def test_a_refusal_is_told(site, status, text):
    site.pages["/a"] = lambda request: request.send_error(status)
    assert refused(f"{site.url}/a").startswith(f"{site.url}/a: {text}")


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf",
    ],
)
def test_half_a_file_is_no_file(site, head):
    site.pages["/a"] = raw(head)
    assert "cut short" in refused(f"{site.url}/a")


def test_half_a_reply_is_no_reply(site):
    site.pages["/a"] = raw(b"HTTP/1.1 2")
    site.pages["/b"] = raw(b"")
    for path in "ab":
        assert refused(f"{site.url}/{path}").startswith(f"{site.url}/{path}: ")


def test_a_server_that_falls_silent_is_left(site):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
    site.pages["/a"] = raw(head, pause_s=1.0)
    site.pages["/b"] = raw(b"", pause_s=1.0)
    for path in "ab":
        assert refused(f"{site.url}/{path}") == f"{site.url}/{path}: nothing came for 0.3 s"


def test_a_server_that_trickles_is_left(site):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"
    site.pages["/a"] = raw(head, then=b"x", pause_s=0.05, times=40)
    assert "bytes after 0.6 s; the server is too slow" in refused(f"{site.url}/a")


@pytest.mark.parametrize("announced", [True, False])
def test_a_file_that_is_too_large_is_not_read(site, announced):
    head = (
        b"HTTP/1.0 200 OK\r\nContent-Length: 1001\r\n\r\n" if announced else b"HTTP/1.0 200\r\n\r\n"
    )
    site.pages["/a"] = raw(head + b"x" * 1001)
    assert "1000" in refused(f"{site.url}/a")


def test_no_server_is_told_at_once(closed_port, site):
    started = time.monotonic()
    address = f"127.0.0.1:{closed_port}"
    text = refused(f"http://{address}/a", LIMITS)
    assert text == f"http://{address}/a: {address} cannot be reached: Connection refused"
    assert time.monotonic() - started < 1.0


def test_a_name_that_nobody_knows_is_told(site):
    text = refused("http://no-such-host.invalid/a")
    assert "no-such-host.invalid:80 cannot be reached: " in text


@pytest.mark.parametrize("url", ["nowhere/a", "ftp://a.invalid/b", "http:///a", "http://a:x/b"])
def test_what_is_no_web_address_is_told(site, url):
    assert refused(url) == f"{url}: no http or https address"


def test_a_silent_address_is_waited_for_no_longer_than_the_limit(site, monkeypatch):
    def silent(*_, **__):
        time.sleep(1.0)
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", silent)
    limits = dataclasses.replace(QUICK, connect_s=0.2)
    assert "no answer in 0.2 s" in refused("http://example.invalid/a", limits)


def test_a_certificate_is_asked_for(site):
    # A server without TLS behind an https address: no silent way back to plain text.
    text = refused(site.url.replace("http:", "https:") + "/a")
    assert "SSL" in text
    assert site.asked == []


def test_a_redirect_never_leaves_tls(site):
    with pytest.raises(URLError, match="not encrypted"):
        _Redirects().redirect_request(
            Request("https://a.invalid/x"), None, 302, "", {}, "http://b.invalid/x"
        )


def test_a_proxy_is_what_has_to_be_reached(site, closed_port, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port}")
    assert f": 127.0.0.1:{closed_port} cannot be reached" in refused(f"{site.url}/a")
    monkeypatch.setenv("http_proxy", site.url)
    site.pages["http://data.invalid/a"] = b"by proxy"
    assert download("http://data.invalid/a", QUICK).data == b"by proxy"
