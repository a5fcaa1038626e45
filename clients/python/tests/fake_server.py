"""A server of /requests that loses connections and refuses on demand, in the part that clients see."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional


class FakeServer:
    """`faults` are those of the next calls: "closed", "lost", "cut" or a status."""

    def __init__(self) -> None:
        self.kept: List[Dict[str, Any]] = []
        self.calls: List[str] = []
        self.api_keys: List[Optional[str]] = []
        self.violations: List[str] = []
        self.faults: List[Any] = []
        self.answers: Callable[[Dict[str, Any]], Optional[Dict[str, Any]]] = lambda body: None
        self._changed = threading.Condition()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                fake._serve(self, fake._wait)

            def do_POST(self) -> None:
                fake._serve(self, fake._open)

        class Threads(ThreadingHTTPServer):
            request_queue_size = 128

        self._server = Threads(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = "http://127.0.0.1:{}".format(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def end(self, index: int, **end: Any) -> None:
        with self._changed:
            self.kept[index]["request"].update(end)
            self._changed.notify_all()

    def opened(self, count: int) -> None:
        """Returns when so many questions are open."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.kept) >= count)

    def _serve(self, handler: BaseHTTPRequestHandler, work: Callable[[Any], "tuple[int, Any]"]) -> None:
        self.calls.append(f"{handler.command} {handler.path}")
        self.api_keys.append(handler.headers.get("x-api-key"))
        fault = self.faults.pop(0) if self.faults else None
        if fault == "closed":
            handler.close_connection = True
            return
        if fault == "cut":
            handler.send_response(200)
            handler.send_header("content-length", "100")
            handler.end_headers()
            handler.wfile.write(b"\n")
            handler.close_connection = True
            return
        if isinstance(fault, int):
            length = int(handler.headers.get("content-length") or 0)
            handler.rfile.read(length)
            return self._reply(handler, fault, {"status": fault, "code": "overloaded", "detail": "refused"})
        status, body = work(handler)
        if fault == "lost":
            handler.close_connection = True
            return
        self._reply(handler, status, body)

    def _reply(self, handler: BaseHTTPRequestHandler, status: int, body: Any) -> None:
        text = b"\n\n" + json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    def _open(self, handler: BaseHTTPRequestHandler) -> "tuple[int, Any]":
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        key = handler.headers.get("idempotency-key") or ""
        if not 1 <= len(key) <= 255:
            self.violations.append(f"key {key!r}")
        with self._changed:
            for one in self.kept:
                if one["key"] == key:
                    if one["body"] != body:
                        return 409, {"status": 409, "code": "request_key_reused", "detail": "used with another body"}
                    return 200, one["request"]
            request = {"request_id": f"r-{len(self.kept)}", "status": "open", "url": "http://inbox.example/1"}
            self.kept.append({"key": key, "body": body, "request": request})
            opened = dict(request)
            request.update(self.answers(body) or {})
            self._changed.notify_all()
            return 201, opened

    def _wait(self, handler: BaseHTTPRequestHandler) -> "tuple[int, Any]":
        path, _, query = handler.path.partition("?")
        if not query.startswith("wait="):
            self.violations.append(handler.path)
        request = self.kept[int(path.rpartition("-")[2])]["request"]
        with self._changed:
            self._changed.wait_for(lambda: request["status"] != "open")
            return 200, request


def answered(answer: Any) -> Dict[str, Any]:
    return {"status": "answered", "answer": answer, "answered_by": "ann"}
