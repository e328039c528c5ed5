# SPDX-FileCopyrightText: 2026 The vera-mh-gym authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes to an endpoint and back: one aiohttp session, its connection pool, and what a broken connection is called."""

from __future__ import annotations

import base64
import io
import os
import ssl
import urllib.request
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gym_host.models.endpoint_settings import EndpointSettings
from gym_host.models.pacing import Pacer
from gym_host.models.redaction import safe_url
from gym_host.models.reply import Failure

_LARGEST_ANSWER = 32 * 2**20
_LARGEST_BYTES_BODY = 2**20  # aiohttp wants larger ones as a file
_CHUNK = 2**16
_KEEPALIVE_SECONDS = 45.0  # below the minute after which load balancers drop idle connections
_DNS_CACHE_SECONDS = 300
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


_KEY_REFUSED = (401, 403)


class Answer(NamedTuple):
    """What came back over HTTP."""

    status: int
    headers: CIMultiDictProxy[str]
    raw: bytes


class Transport:
    """Posts bodies to one URL. The session opens at the first request, within the running loop.

    Args:
        settings: The endpoint's settings.
    """

    __slots__ = ("_fresh", "_pacer", "_session", "_settings", "_shown", "_url")

    def __init__(self, settings: EndpointSettings) -> None:
        self._settings = settings
        self._pacer = Pacer()
        self._url = URL(settings.url)
        self._shown = safe_url(settings.url)
        self._session: aiohttp.ClientSession | None = None
        self._fresh: aiohttp.ClientSession | None = None

    async def post(self, payload: bytes, *, fresh: bool = False) -> Answer | Failure:
        """Post one body.

        Args:
            payload: The encoded body.
            fresh: Open a connection for this request in place of taking one from the pool.

        Returns:
            The answer, whatever its status, or the failure of the connection.
        """
        session = self._fresh if fresh else self._session
        if session is None or session.closed:
            session = self._open(fresh)
        data = payload if len(payload) <= _LARGEST_BYTES_BODY else io.BytesIO(payload)
        response: aiohttp.ClientResponse | None = None
        try:
            async with session.post(self._url, data=data, allow_redirects=False) as response:
                raw = await self._read(response)
        except TimeoutError as error:
            return self._timeout(error)
        except (aiohttp.ClientError, OSError) as error:
            return self._broken(error, answered=response is not None)
        if isinstance(raw, Failure):
            return raw
        await self._pacer.admit()
        return Answer(response.status, response.headers, raw)

    async def reach(self) -> Failure | None:
        """Say why the endpoint cannot be used: nothing answers at its address, or it refuses the key. None if neither is so."""
        session = self._session or self._open(fresh=False)
        timeout = aiohttp.ClientTimeout(total=self._settings.connect_timeout_seconds)
        try:
            async with session.get(self._url.parent.parent / "models", allow_redirects=False, timeout=timeout) as response:
                if response.status in _KEY_REFUSED:
                    message = f"{self._shown} refuses the key (HTTP {response.status}); check api_key"
                    return Failure("refused", message, response.status, retriable=False)
                return None
        except TimeoutError as error:
            return self._timeout(error) if isinstance(error, aiohttp.ConnectionTimeoutError) else None
        except (aiohttp.ClientError, OSError) as error:
            failure = self._broken(error, answered=False)
            return None if failure.stale else failure

    async def aclose(self) -> None:
        """Close all connections."""
        for session in (self._session, self._fresh):
            if session is not None:
                await session.close()

    def _open(self, fresh: bool) -> aiohttp.ClientSession:
        settings = self._settings
        limit = settings.num_concurrent_requests
        if fresh:
            connector = aiohttp.TCPConnector(limit=limit, ttl_dns_cache=_DNS_CACHE_SECONDS, force_close=True)
        else:
            connector = aiohttp.TCPConnector(limit=limit, ttl_dns_cache=_DNS_CACHE_SECONDS, keepalive_timeout=_KEEPALIVE_SECONDS)
        session = aiohttp.ClientSession(
            connector=connector,
            headers=_headers(settings),
            timeout=aiohttp.ClientTimeout(total=settings.request_timeout_seconds, connect=settings.connect_timeout_seconds),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy_of(self._url),
        )
        if fresh:
            self._fresh = session
        else:
            self._session = session
        return session

    async def _read(self, response: aiohttp.ClientResponse) -> bytes | Failure:
        length = response.content_length
        if length is not None and "content-encoding" not in response.headers:
            if length <= _LARGEST_ANSWER:
                return await response.read()
            return self._too_large(response.status)
        chunks, size = [], 0
        async for chunk in response.content.iter_chunked(_CHUNK):
            size += len(chunk)
            if size > _LARGEST_ANSWER:
                return self._too_large(response.status)
            chunks.append(chunk)
        return b"".join(chunks)

    def _too_large(self, status: int) -> Failure:
        message = f"The answer of {self._shown} is larger than {_LARGEST_ANSWER // 2**20} MiB"
        return Failure("invalid_reply", message, status, retriable=False)

    def _timeout(self, error: BaseException) -> Failure:
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            seconds = self._settings.connect_timeout_seconds
            return Failure("timeout", f"{self._shown} could not be reached within {seconds:g} seconds")
        seconds = self._settings.request_timeout_seconds
        return Failure("timeout", f"{self._shown} did not answer within {seconds:g} seconds")

    def _broken(self, error: Exception, *, answered: bool) -> Failure:
        if isinstance(error, aiohttp.ClientConnectorDNSError):
            return Failure("connection", f"The name of {self._shown} cannot be looked up; check base_url")
        if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError | ssl.SSLError):
            message = f"No secure connection to {self._shown}: {error}"
            return Failure("connection", message, retriable=not isinstance(error, aiohttp.ClientConnectorCertificateError))
        if isinstance(error, aiohttp.ClientConnectorError):
            number = error.os_error.errno
            reason = os.strerror(number) if number else str(error.os_error)
            return Failure("connection", f"No connection to {self._shown}: {reason}")
        if isinstance(error, aiohttp.ClientPayloadError):
            return Failure("connection", f"The connection to {self._shown} broke in the middle of an answer")
        if isinstance(error, aiohttp.ServerDisconnectedError | OSError):
            message = f"The connection to {self._shown} was closed without an answer"
            return Failure("connection", message, stale=not answered)
        return Failure(
            "invalid_reply", f"The answer of {self._shown} is no HTTP: {getattr(error, 'message', type(error).__name__)}"
        )


def _headers(settings: EndpointSettings) -> CIMultiDict[str]:
    headers = CIMultiDict({"Content-Type": "application/json", "Accept": "application/json"})
    userinfo = urlsplit(settings.base_url).netloc.rpartition("@")[0]
    key = settings.api_key.strip()
    if key:
        headers["Authorization"] = f"Bearer {key}"
    elif userinfo:
        headers["Authorization"] = "Basic " + base64.b64encode(unquote(userinfo).encode()).decode()
    for name, value in settings.default_headers.items():
        headers[name] = value
    return headers


def _proxy_of(url: URL) -> str | None:
    """The proxy that the environment names for a URL. Looked up once, since aiohttp's own look-up takes a thread per request."""
    host = url.host or ""
    proxy = urllib.request.getproxies().get(url.scheme)
    if not proxy or host in _LOOPBACK or urllib.request.proxy_bypass(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
