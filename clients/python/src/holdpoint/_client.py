"""Client of /requests: puts a question to people, and waits for its end.

Rules:
  client.1. Every call may be repeated: the key makes a repeated question the same one, and reading changes nothing.
       Lost connections, 5xx and 429 are repeated; other refusals are errors.
  client.2. Before the question is open, a server that does not answer within OPEN_PATIENCE_S is an error: most likely
       the address is wrong. An open question is waited for as long as it is open.
  client.3. The steps of a question are a generator of calls and pauses, so that ask() and ask_async() have the same.
"""

from __future__ import annotations

import asyncio
import functools
import http.client
import json
import os
import random
import threading
import time
import urllib.error
import urllib.request
import uuid
from typing import Any, Awaitable, Callable, Dict, Generator, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union
from urllib.parse import quote

OPEN_PATIENCE_S = 30.0
# Proxies close calls that are silent for a minute.
WAIT_S = 25
SILENCE_S = WAIT_S + 20.0
BACKOFF_FIRST_S = 0.25
BACKOFF_MOST_S = 10.0
RETRY_AFTER_MOST_S = 60.0

#: A question, as docs/reference/requests.md shows it.
Request = Dict[str, Any]
T = TypeVar("T")


class Refused(Exception):
    """The server refused a call. `code` is one of docs/reference/errors.md, or None from another server."""

    def __init__(self, status: int, code: Optional[str], message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Unreachable(Exception):
    """No server responds at the address."""


class RequestEnded(Exception):
    """The question ended without an answer: `request["status"]` is "expired" or "cancelled"."""

    def __init__(self, request: Request) -> None:
        reason = request.get("reason")
        super().__init__("the question is {}{}".format(request["status"], f": {reason}" if reason else ""))
        self.request = request


class Call(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str]
    body: Optional[bytes]


class Reply(NamedTuple):
    status: int
    retry_after: Optional[str]
    text: str


class Pause(NamedTuple):
    seconds: float


#: Yields what to do next, and gets the reply of a call, or None for a lost connection.
Steps = Generator[Union[Call, Pause], Optional[Reply], Request]


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


#: `None` is an answer, too.
UNSET: Any = _Unset()


def ask(payload: Any, **options: Any) -> Any:
    """Asks people, waits, and returns the answer: through lost connections and restarts of the server.

    `payload` is a text, or any JSON. The options are those of `ask_request`.
    Raises RequestEnded without an answer, Refused, and Unreachable if the question could not be asked.
    """
    return read_answer(ask_request(payload, **options))


async def ask_async(payload: Any, **options: Any) -> Any:
    """As `ask`, for asyncio."""
    return read_answer(await ask_request_async(payload, **options))


def ask_request(payload: Any, **options: Any) -> Request:
    """Asks, and returns the request at its end, with or without an answer.

    Options:
      key         names the question. With the same key a restarted program gets the question that is there, or its
                  answer; without one each call asks anew.
      url         address of the server; by default HOLDPOINT_URL
      api_key     by default HOLDPOINT_API_KEY
      schema      JSON Schema of the answer
      choices     the answers to choose from
      timeout     seconds until the question expires, or gets `on_timeout` as its answer
      title, assignees, review, priority, metadata, notify, webhook: as in docs/reference/requests.md
      on_open     called with the open question: its "url" is where a person answers
    """
    question = prepare(payload, **options)
    return question.server.run(question.end(question.server.run(question.open())))


async def ask_request_async(payload: Any, **options: Any) -> Request:
    """As `ask_request`, for asyncio. A cancelled wait leaves the question open."""
    question = prepare(payload, **options)
    return await question.server.run_async(question.end(await question.server.run_async(question.open())))


def read_answer(request: Request) -> Any:
    if request["status"] != "answered":
        raise RequestEnded(request)
    return request["answer"]


def prepare(
    payload: Any,
    *,
    url: Optional[str] = None,
    api_key: Optional[str] = None,
    key: Optional[str] = None,
    schema: Optional[Mapping[str, Any]] = None,
    choices: Optional[Sequence[Any]] = None,
    timeout: Optional[float] = None,
    on_timeout: Any = UNSET,
    title: Optional[str] = None,
    assignees: Optional[Sequence[str]] = None,
    review: Optional[Mapping[str, Any]] = None,
    priority: Optional[str] = None,
    metadata: Optional[Mapping[str, Any]] = None,
    notify: Any = None,
    webhook: Optional[str] = None,
    on_open: Optional[Callable[[Request], None]] = None,
) -> "Question":
    """The options of `ask_request`, checked."""
    address = url or os.environ.get("HOLDPOINT_URL")
    if not address:
        raise ValueError("no server: set HOLDPOINT_URL, or pass url")
    if schema is None and choices is not None:
        schema = {"enum": list(choices)}
    members = {
        "title": title,
        "response_schema": schema,
        "deadline": timeout,
        "on_deadline": None if on_timeout is UNSET else {"answer": on_timeout},
        "assignees": assignees,
        "review": review,
        "priority": priority,
        "metadata": metadata,
        "notify": notify,
        "webhook": webhook,
    }
    body = {"payload": payload, **{name: value for name, value in members.items() if value is not None}}
    server = Server(address.rstrip("/"), api_key or os.environ.get("HOLDPOINT_API_KEY"))
    return Question(server, body, key or str(uuid.uuid4()), on_open)


class Question(NamedTuple):
    server: "Server"
    body: Dict[str, Any]
    key: str
    on_open: Optional[Callable[[Request], None]]

    def open(self) -> Steps:
        """Opens the question, or finds the one that this key has opened."""
        headers = {"content-type": "application/json", "idempotency-key": self.key}
        call = Call("POST", "/requests", headers, json.dumps(self.body).encode())
        request = yield from _repeat(self.server.url, call, OPEN_PATIENCE_S)
        if self.on_open is not None:
            self.on_open(request)
        return request

    def end(self, request: Request) -> Steps:
        """Waits until somebody answers, the deadline passes, or somebody cancels."""
        path = "/requests/{}?wait={}".format(quote(request["request_id"], safe=""), WAIT_S)
        while request["status"] == "open":
            begun = time.monotonic()
            request = yield from _repeat(self.server.url, Call("GET", path, {}, None), float("inf"))
            if request["status"] == "open" and time.monotonic() - begun < 1:
                yield Pause(1)  # a server that stops does not wait
        return request


def _repeat(url: str, call: Call, patience_s: float) -> Steps:
    """client.1."""
    begun = time.monotonic()
    backoff_s = BACKOFF_FIRST_S
    while True:
        reply = yield call
        found = _read(url, reply)
        if isinstance(found, dict):
            return found
        if time.monotonic() - begun > patience_s:
            raise found
        after_s = _seconds(reply.retry_after) if reply is not None else None
        yield Pause(after_s if after_s is not None else backoff_s * (0.5 + random.random() / 2))
        backoff_s = min(backoff_s * 2, BACKOFF_MOST_S)


def _read(url: str, reply: Optional[Reply]) -> Union[Request, Exception]:
    """The request, or an error that a repeated call may end. Raises Refused for other errors."""
    if reply is None:
        return Unreachable(f"no server responds at {url}")
    try:
        body = json.loads(reply.text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {}
    if 200 <= reply.status < 300 and isinstance(body.get("request_id"), str):
        return body
    status = body["status"] if isinstance(body.get("status"), int) else reply.status
    reason = body.get("detail") or body.get("title") or f"{url} is not a Holdpoint server"
    code = body.get("code")
    error = Refused(status, code, f"{reason} ({code or status})")
    if status < 500 and status != 429 and reply.text.strip() != "":
        raise error
    return error


def _seconds(retry_after: Optional[str]) -> Optional[float]:
    try:
        seconds = float(retry_after or "")
    except ValueError:
        return None
    return min(seconds, RETRY_AFTER_MOST_S) if seconds > 0 else None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected call would carry the key to another server."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Server:
    def __init__(self, url: str, api_key: Optional[str]) -> None:
        self.url = url
        self._api_key = api_key
        self._opener = urllib.request.build_opener(_NoRedirect)

    def run(self, steps: Steps) -> Request:
        reply: Optional[Reply] = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            reply = None
            if isinstance(step, Pause):
                time.sleep(step.seconds)
            else:
                reply = self.call(step)

    async def run_async(self, steps: Steps) -> Request:
        reply: Optional[Reply] = None
        while True:
            try:
                step = steps.send(reply)
            except StopIteration as end:
                return end.value
            reply = None
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
            else:
                reply = await _in_thread(functools.partial(self.call, step))

    def call(self, call: Call) -> Optional[Reply]:
        """The reply, also a refusal; None for a lost connection."""
        headers = dict(call.headers)
        if self._api_key:
            headers["x-api-key"] = self._api_key
        sent = urllib.request.Request(self.url + call.path, data=call.body, headers=headers, method=call.method)
        try:
            try:
                with self._opener.open(sent, timeout=SILENCE_S) as response:
                    return _reply(response.status, response.headers, response.read())
            except urllib.error.HTTPError as refused:
                with refused:
                    return _reply(refused.code, refused.headers, refused.read())
        except (OSError, http.client.HTTPException):  # URLError is an OSError
            return None


def _reply(status: int, headers: Any, body: bytes) -> Reply:
    return Reply(status, headers.get("retry-after"), body.decode("utf-8", "replace"))


def _in_thread(work: Callable[[], T]) -> Awaitable[T]:
    """In a thread of its own, for minutes: the shared ones of asyncio are few, and its end waits for them."""
    loop = asyncio.get_running_loop()
    future: "asyncio.Future[T]" = loop.create_future()

    def settle(value: Optional[T], error: Optional[BaseException]) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def run() -> None:
        value: Optional[T] = None
        error: Optional[BaseException] = None
        try:
            value = work()
        except BaseException as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(settle, value, error)
        except RuntimeError:
            pass  # the loop has ended

    threading.Thread(target=run, daemon=True, name="holdpoint-wait").start()
    return future
