"""URLs as evidence: which addresses are public, that every hop is checked, and that the checked one is connected to."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from decide.evidence import Bounds, EvidenceError, Far, collect
from decide.evidence_url import HOPS, is_public
from decide.reason import Reason
from decide.rungs.http import Request, Response
from decide.snapshot import Evidence, Source, SourceKind
from tests.decide.rungs.far import NOW, Script, far, nobody

PUBLIC = "93.184.215.14"

ADDRESSES = [
    (PUBLIC, True),
    ("2606:2800:220:1:248:1893:25c8:1946", True),
    ("127.0.0.1", False),
    ("127.8.8.8", False),
    ("10.0.0.1", False),
    ("172.16.0.1", False),
    ("192.168.1.1", False),
    ("169.254.169.254", False),
    ("100.64.0.1", False),
    ("100.100.100.200", False),
    ("168.63.129.16", False),
    ("0.0.0.0", False),
    ("0.1.2.3", False),
    ("224.0.0.1", False),
    ("233.252.0.1", False),
    ("240.0.0.1", False),
    ("255.255.255.255", False),
    ("198.18.0.1", False),
    ("192.0.2.1", False),
    ("::1", False),
    ("::", False),
    ("fe80::1", False),
    ("fe80::1%eth0", False),
    ("fc00::1", False),
    ("fd00:ec2::254", False),
    ("ff02::1", False),
    ("ff0e::1", False),
    ("2001:db8::1", False),
    ("::ffff:127.0.0.1", False),
    ("::ffff:93.184.215.14", False),
    ("::7f00:1", False),
    ("64:ff9b::7f00:1", False),
    ("64:ff9b:1::7f00:1", False),
    ("2002:7f00:1::", False),
    ("2001:0:7f00:1::", False),
    ("localhost", False),
    ("", False),
]


@pytest.mark.parametrize(("address", "public"), ADDRESSES)
def test_which_addresses_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


class Web:
    """Names with their addresses, and pages by URL; every request is kept with the address it went to."""

    def __init__(self, names: Mapping[str, list[str]], pages: Mapping[str, Response]) -> None:
        self.names, self.pages = names, pages
        self.asked: list[tuple[str, str]] = []
        self.looked_up: list[str] = []

    async def fetch(self, request: Request) -> Response:
        self.asked.append((request.url, request.address))
        return self.pages[request.url]

    async def resolve(self, host: str, port: int) -> Iterable[str]:
        self.looked_up.append(host)
        if host not in self.names:
            raise OSError("no such name")
        return self.names[host]

    async def read(self, url: str, folder: Path, bounds: Bounds | None = None) -> Evidence:
        far_side = Far(self.fetch, {}, self.resolve)
        return (await collect([Source(SourceKind.URL, url)], folder=folder, far=far_side, bounds=bounds)).items[0]


def page(content: bytes = b"words", status: int = 200, location: str = "", *, cut: bool = False) -> Response:
    return Response(NOW, status, {"location": location} if location else {}, content, cut=cut)


async def test_the_address_that_was_checked_is_the_one_connected_to(tmp_path: Path) -> None:
    web = Web({"docs.example": [PUBLIC]}, {"https://docs.example/a": page()})
    item = await web.read("https://docs.example/a", tmp_path)
    assert (item.name, item.text, item.note) == ("https://docs.example/a", "words", "")
    assert web.asked == [("https://docs.example/a", PUBLIC)]
    assert web.looked_up == ["docs.example"]


async def test_an_answer_over_the_bound_is_cut(tmp_path: Path) -> None:
    web = Web({"docs.example": [PUBLIC]}, {"http://docs.example/": page(cut=True)})
    assert (await web.read("http://docs.example/", tmp_path)).note == "cut: the first 5 bytes"


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        (["127.0.0.1"], "no public address"),
        ([PUBLIC, "10.0.0.1"], "no public address"),
        (["169.254.169.254"], "no public address"),
        (["::ffff:93.184.215.14"], "no public address"),
        ([], "not found"),
    ],
)
async def test_a_name_that_leads_inside(tmp_path: Path, addresses: list[str], said: str) -> None:
    web = Web({"docs.example": addresses}, {})
    with pytest.raises(EvidenceError, match=said) as caught:
        await web.read("http://docs.example/", tmp_path)
    assert "http://docs.example/" in str(caught.value)
    assert web.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://127.1/",
        "http://0/",
        "http://[::ffff:127.0.0.1]/",
        "http://metadata.google.internal/",
        "http://METADATA.google.internal./",
        "ftp://docs.example/",
        "file:///etc/passwd",
        "docs.example",
        "http://",
        "http://[::1",
        "http://docs.example:99999/",
        "http://user:SENTINEL@docs.example/",
        "http://SENTINEL@docs.example/",
    ],
)
async def test_what_is_refused_before_anything_is_asked(tmp_path: Path, url: str) -> None:
    with pytest.raises(EvidenceError):
        await collect([Source(SourceKind.URL, url)], folder=tmp_path, far=Far(nobody, {}))


async def test_a_metadata_service_is_refused_by_name(tmp_path: Path) -> None:
    web = Web({"metadata.google.internal.": [PUBLIC]}, {"http://metadata.google.internal./": page()})
    with pytest.raises(EvidenceError, match="a metadata service"):
        await web.read("http://metadata.google.internal./", tmp_path)


async def test_a_redirect_is_checked_at_every_hop(tmp_path: Path) -> None:
    pages = {
        "https://docs.example/a": page(status=302, location="/b"),
        "https://docs.example/b": page(status=301, location="//other.example/c"),
        "https://other.example/c": page(status=307, location="http://inside.example/"),
    }
    web = Web({"docs.example": [PUBLIC], "other.example": ["1.1.1.1"], "inside.example": ["10.0.0.7"]}, pages)
    with pytest.raises(EvidenceError, match=r"10\.0\.0\.7, which is no public address"):
        await web.read("https://docs.example/a", tmp_path)
    assert web.asked == [
        ("https://docs.example/a", PUBLIC),
        ("https://docs.example/b", PUBLIC),
        ("https://other.example/c", "1.1.1.1"),
    ]


@pytest.mark.parametrize(
    "location", ["http://user:pw@docs.example/", "file:///etc/passwd", "http://169.254.169.254/"]
)
async def test_a_redirect_to_what_may_not_be_asked(tmp_path: Path, location: str) -> None:
    web = Web(
        {"docs.example": [PUBLIC], "169.254.169.254": ["169.254.169.254"]},
        {"http://docs.example/a": page(status=302, location=location)},
    )
    with pytest.raises(EvidenceError):
        await web.read("http://docs.example/a", tmp_path)
    assert len(web.asked) == 1


async def test_five_redirects_are_followed_and_no_more(tmp_path: Path) -> None:
    pages = {f"http://docs.example/{n}": page(status=302, location=f"/{n + 1}") for n in range(HOPS + 1)}
    web = Web({"docs.example": [PUBLIC]}, pages | {f"http://docs.example/{HOPS + 1}": page()})
    assert (await web.read("http://docs.example/1", tmp_path)).text == "words"
    with pytest.raises(EvidenceError, match="redirects more than 5 times"):
        await web.read("http://docs.example/0", tmp_path)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (page(status=404), "answers HTTP 404"),
        (page(status=500), "answers HTTP 500"),
        (page(status=304), "answers HTTP 304"),
        (Response(NOW, failure=Reason.NETWORK, detail="ConnectError"), r"network \(ConnectError\)"),
    ],
)
async def test_an_answer_that_is_no_document(tmp_path: Path, answer: Response, said: str) -> None:
    web = Web({"docs.example": [PUBLIC]}, {"http://docs.example/": answer})
    with pytest.raises(EvidenceError, match=said):
        await web.read("http://docs.example/", tmp_path)


async def test_this_machine_is_read_where_that_is_allowed(tmp_path: Path) -> None:
    async with far(Script(302, headers={"location": "/next"}), Script(content=b"x" * 20)) as side:
        bounds = Bounds(source_bytes=8, allow_private=True)
        sources = [Source(SourceKind.URL, f"{side.base_url}/first")]
        snapshot = await collect(sources, folder=tmp_path, far=Far(side.http.fetch, {}), bounds=bounds)
        with pytest.raises(EvidenceError, match=r"127\.0\.0\.1, which is no public address"):
            await collect(sources, folder=tmp_path, far=Far(side.http.fetch, {}))
    (item,) = snapshot.items
    assert (item.text, item.note) == ("xxxxxxxx", "cut: the first 8 bytes")
    assert [asked.path for asked in side.asked] == ["/first", "/next"]
    assert not {"authorization", "cookie"} & side.asked[1].headers.keys()


async def test_a_name_that_changes_its_mind_is_not_asked_twice(tmp_path: Path) -> None:
    """The resolver would say this machine the second time; the connection goes where the first answer led."""
    answers = iter([["198.51.100.1"], ["127.0.0.1"]])

    async def turn(host: str, port: int) -> Iterable[str]:
        return next(answers)

    async with far(Script(content=b"inside")) as side:
        port = urlsplit(side.base_url).port
        with pytest.raises(EvidenceError, match=r"198\.51\.100\.1"):
            await collect(
                [Source(SourceKind.URL, f"http://docs.example:{port}/")],
                folder=tmp_path,
                far=Far(side.http.fetch, {}, turn),
            )
    assert side.asked == []
