"""HTML read back: the tags of a page, well nested, and its words."""

import re
from html import unescape
from html.parser import HTMLParser


class Tags(HTMLParser):
    """Every tag of a page with its attributes; one that is not closed in order fails."""

    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def words(html: str) -> str:
    """The page's text, one space between words."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
