"""A server that records what arrives and answers 200: once as the gateway, once as somebody else's host."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Recorded:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes = field(repr=False)

    @property
    def of_ours(self) -> dict[str, str]:
        return {name: value for name, value in self.headers.items() if name.startswith("x-gateway-")}


class Recorder:
    """`redirect_to` is where each request is sent on to, with 307; `redirects` where those for one target are."""

    def __init__(self) -> None:
        self.requests: list[Recorded] = []
        self.redirect_to: str | None = None
        self.redirects: dict[str, str] = {}
        self.status = 200
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                recorder.requests.append(Recorded(self.command, self.path, headers, body))
                text = b'{"ok": true}'
                location = recorder.redirects.get(self.path, recorder.redirect_to)
                self.send_response(307 if location else recorder.status)
                if location:
                    self.send_header("Location", location)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
