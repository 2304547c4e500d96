"""Grafana far side: a loopback server that keeps folders and dashboards and answers as Grafana's HTTP API does."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "glsa_FAKE_for_tests"
Json = dict[str, Any]
Answer = tuple[int, Json]


@dataclass
class Grafana:
    """What is kept, every request that came, and what is answered in place of the truth."""

    folders: dict[str, str] = field(default_factory=dict)
    boards: dict[str, Json] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    instead: dict[str, tuple[int, str, str]] = field(default_factory=dict)
    base: str = ""

    def answer(self, method: str, path: str, token: str, body: Json | None) -> Answer:
        """The answer to one request."""
        if token != f"Bearer {TOKEN}":
            return 401, {"message": "Invalid API key"}
        match method, path.split("/")[2:]:
            case "GET", ["folders", uid]:
                found = self.folders.get(uid)
                return (200, {"uid": uid, "title": found}) if found else (404, {"message": "folder not found"})
            case "POST", ["folders"]:
                return self._folder(body or {})
            case "GET", ["dashboards", "uid", uid]:
                kept = self.boards.get(uid)
                return (200, kept) if kept else (404, {"message": "Dashboard not found"})
            case "POST", ["dashboards", "db"]:
                return self._board(body or {})
            case _:
                return 404, {"message": "Not found"}

    def _folder(self, body: Json) -> Answer:
        if body["title"] in self.folders.values():
            return 409, {"message": "a folder with the same name already exists in the current location"}
        self.folders[body["uid"]] = body["title"]
        return 200, body

    def _board(self, body: Json) -> Answer:
        """Save as Grafana does: against the version that was seen, and no two of one name in a folder."""
        document, folder = body["dashboard"], body["folderUid"]
        if folder not in self.folders:
            return 400, {"message": "folder not found"}
        kept = self.boards.get(document["uid"])
        version = kept["dashboard"]["version"] if kept else 0
        named = [
            uid
            for uid, one in self.boards.items()
            if one["dashboard"]["title"] == document["title"] and one["meta"]["folderUid"] == folder
        ]
        if not body["overwrite"]:
            if document["version"] != version:
                return 412, {
                    "status": "version-mismatch",
                    "message": "The dashboard has been changed by someone else",
                }
            if named and named != [document["uid"]]:
                told = "A dashboard with the same name in the folder already exists"
                return 412, {"status": "name-exists", "message": told}
        saved = document | {"id": 7, "version": version + 1}
        self.boards[document["uid"]] = {"dashboard": saved, "meta": {"folderUid": folder, "version": version + 1}}
        return 200, {"uid": document["uid"], "status": "success", "version": version + 1}


@contextmanager
def answering() -> Iterator[Grafana]:
    """A Grafana that answers at its `base`, until the block ends."""
    far = Grafana()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._told("GET", None)

        def do_POST(self) -> None:
            self._told("POST", json.loads(self.rfile.read(int(self.headers["content-length"]))))

        def _told(self, method: str, body: Json | None) -> None:
            far.asked.append((method, self.path))
            status, kind, text = far.instead.get(f"{method} {self.path}", (0, "", ""))
            if not status:
                status, document = far.answer(method, self.path, self.headers.get("authorization", ""), body)
                kind, text = "application/json", json.dumps(document)
            sent = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    far.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield far
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
