"""One file over HTTP: bounded in time and size, whole or refused, and quick to say "no network".

TLS certificates are verified, proxies are those of the environment, and nothing is tried twice:
whoever prepares data sits in front of it.
"""

from __future__ import annotations

import http.client
import queue
import socket
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import IO
from urllib.parse import urlsplit

from sero.errors import DataError

COMMIT_HEADER = "X-Repo-Commit"
"""Where Hugging Face says which commit a branch stands for; on the redirect, not behind it."""

_CHUNK_BYTES = 1 << 16
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a download may take.

    Attributes:
        connect_s: until a connection stands, the look-up of the name included.
        stall_s: without a further byte.
        total_s: for the whole file.
        max_bytes: its size.
    """

    connect_s: float = 5.0
    stall_s: float = 20.0
    total_s: float = 600.0
    max_bytes: int = 256 << 20


LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloaded:
    """A whole file, and the commit it belongs to where the server says so."""

    data: bytes
    commit: str | None


def download(url: str, limits: Limits = LIMITS) -> Downloaded:
    """Read one file.

    Raises:
        DataError: not reachable, refused, not there, stalled, cut short or too large.
    """
    _check_reachable(url, limits.connect_s)
    deadline = time.monotonic() + limits.total_s
    redirects = _Redirects()
    opener = urllib.request.build_opener(redirects)
    request = urllib.request.Request(
        url, headers={"User-Agent": "sero", "Accept-Encoding": "identity"}
    )
    try:
        with opener.open(request, timeout=limits.stall_s) as response:
            commit = response.headers.get(COMMIT_HEADER) or redirects.commit
            data = _read(response, url, limits, deadline)
    except urllib.error.HTTPError as error:
        with error:
            raise DataError(f"{url}: {_refusal(error.code)}") from None
    except urllib.error.URLError as error:
        raise DataError(f"{url}: {_reason(error.reason, limits)}") from None
    except (http.client.HTTPException, OSError) as error:
        raise DataError(f"{url}: {_reason(error, limits)}") from None
    return Downloaded(data=data, commit=commit)


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, never to a connection without TLS, and notes the commit they name."""

    def __init__(self) -> None:
        self.commit: str | None = None

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if urlsplit(req.full_url).scheme == "https" and urlsplit(newurl).scheme != "https":
            raise urllib.error.URLError(f"sent on to {newurl}, which is not encrypted")
        self.commit = self.commit or headers.get(COMMIT_HEADER)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _read(response: http.client.HTTPResponse, url: str, limits: Limits, deadline: float) -> bytes:
    announced = response.headers.get("Content-Length", "")
    size = int(announced) if announced.isdecimal() else None
    if size is not None and size > limits.max_bytes:
        raise DataError(f"{url}: {size} bytes; at most {limits.max_bytes} are read")
    parts = bytearray()
    while chunk := response.read1(_CHUNK_BYTES):
        parts += chunk
        if len(parts) > limits.max_bytes:
            raise DataError(f"{url}: more than {limits.max_bytes} bytes")
        if time.monotonic() > deadline:
            raise DataError(
                f"{url}: {len(parts)} bytes after {limits.total_s:g} s; the server is too slow"
            )
    if size is not None and len(parts) != size:
        raise DataError(f"{url}: cut short, {len(parts)} of {size} bytes arrived")
    return bytes(parts)


def _check_reachable(url: str, seconds: float) -> None:
    """Connect once, to the proxy where there is one; a blocked name look-up is not waited for.

    Raises:
        DataError: no connection within the time.
    """
    host, port = _peer(url)
    outcome: queue.SimpleQueue[Exception | None] = queue.SimpleQueue()

    def connect() -> None:
        try:
            # Several addresses may be tried; one that is silent leaves time for the next.
            socket.create_connection((host, port), timeout=seconds / 2).close()
        except (OSError, UnicodeError) as error:
            outcome.put(error)
        else:
            outcome.put(None)

    threading.Thread(target=connect, name="reach", daemon=True).start()
    try:
        error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise DataError(
            f"{url}: {host}:{port} cannot be reached: no answer in {seconds:g} s"
        ) from None
    if error is not None:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{url}: {host}:{port} cannot be reached: {reason}")


def _peer(url: str) -> tuple[str, int]:
    """Host and port a request for `url` connects to.

    Raises:
        DataError: no address of the web, or no proxy's.
    """
    parts = urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme)
    try:
        if proxy and not urllib.request.proxy_bypass(parts.hostname or ""):
            parts = urlsplit(proxy if "//" in proxy else f"http://{proxy}")
        host, port = parts.hostname, parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        host = None
    if not host:
        raise DataError(f"{parts.geturl()}: no http or https address")
    return host, port


def _refusal(status: int) -> str:
    if status == 404:
        return "not found (404); is the revision right?"
    if status in (401, 403):
        return f"refused ({status}); the data there are not public"
    return f"the server answered {status}"


def _reason(error: object, limits: Limits) -> str:
    if isinstance(error, http.client.IncompleteRead):
        return "cut short"
    if isinstance(error, TimeoutError):
        return f"nothing came for {limits.stall_s:g} s"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
