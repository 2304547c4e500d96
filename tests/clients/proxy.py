"""An HTTPS proxy that ends TLS itself, so that the real clients speak to the loopback provider by their own host names."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from starlette.types import ASGIApp

from canary.demo.server import serve

HOSTS = (
    "api.anthropic.com",
    "platform.claude.com",
    "console.anthropic.com",
    "claude.ai",
    "mcp-proxy.anthropic.com",
    "chatgpt.com",
    "ab.chatgpt.com",
    "auth.openai.com",
    "api.openai.com",
)
"""The hosts that the provider plays; a tunnel to any other is refused and told."""
LIFETIME = timedelta(days=2)


@dataclass
class Proxy:
    """A running proxy: its address, the hosts it was asked for, and those of them that it refused."""

    url: str
    asked: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(subject: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


_SIGNS = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
ISSUER = "rungwatch throw-away test CA"


def make_authority(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A throw-away CA: its certificate as a file for the clients, and a context that speaks for every host."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca = _builder(ISSUER, ISSUER, ca_key).add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    authority = ca.add_extension(_SIGNS, critical=True).sign(ca_key, hashes.SHA256())
    leaf = (
        _builder(HOSTS[0], ISSUER, key)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in HOSTS]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    authority_file, pair = folder / "ca.pem", folder / "leaf.pem"
    authority_file.write_bytes(authority.public_bytes(pem))
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pair.write_bytes(secret + leaf.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair)
    return authority_file, context


async def _pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await source.read(65536):
            sink.write(piece)
            await sink.drain()
    with suppress(OSError):
        sink.close()


async def _head(reader: asyncio.StreamReader) -> tuple[str, str]:
    """The method and the target of a request to the proxy, its headers read and left aside."""
    with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        words = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(words) == 3:
            return words[0], words[1]
    return "", ""


async def _tunnel(found: Proxy, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    method, target = await _head(reader)
    host = target.rpartition(":")[0] or target
    if not method:  # a bare connection without a request, which Claude Code opens (clients 2.6)
        writer.close()
        return
    found.asked.append(host)
    if method != "CONNECT" or host not in HOSTS:
        found.refused.append(host)
        writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()
        return
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    await asyncio.gather(_pipe(reader, far_writer), _pipe(far_reader, writer))


@asynccontextmanager
async def proxied(app: ASGIApp, context: ssl.SSLContext) -> AsyncIterator[Proxy]:
    """The application answers for every host of HOSTS through the yielded proxy, in this event loop."""
    async with serve(app, tls=context) as inner:
        port = urlsplit(inner).port or 0
        found, tunnels = Proxy(""), set[asyncio.Task[None]]()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(_tunnel(found, port, reader, writer))
            tunnels.add(task)
            task.add_done_callback(tunnels.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        found.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield found
        finally:
            server.close()
            running = list(tunnels)
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
