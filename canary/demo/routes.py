"""The paths either vendor answers on the loopback: what each is for, whose it is and which function answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from canary.demo import claude_model, claude_wire, codex_wire, openai_model
from canary.demo.reply import Ask, Reply
from canary.demo.script import Kind, Vendor

Handler = Callable[[Ask], Reply]


@dataclass(frozen=True, slots=True)
class Route:
    """What a path is for, whose it is and how it is answered; an API key is welcome where `api_keys` says so."""

    kind: Kind
    vendor: Vendor
    answer: Handler
    api_keys: bool = False
    needs_beta: bool = False


_C, _X = Vendor.CLAUDE, Vendor.CODEX
ROUTES: Mapping[tuple[str, str], Route] = {
    ("GET", "/api/oauth/usage"): Route(Kind.USAGE, _C, claude_wire.usage, needs_beta=True),
    ("GET", "/api/oauth/profile"): Route(Kind.PROFILE, _C, claude_wire.profile),
    ("POST", "/v1/messages"): Route(Kind.MODEL, _C, claude_model.messages, api_keys=True),
    ("GET", "/v1/models"): Route(Kind.OTHER, _C, claude_wire.models, api_keys=True),
    ("GET", "/backend-api/wham/usage"): Route(Kind.USAGE, _X, codex_wire.usage),
    ("GET", "/api/codex/usage"): Route(Kind.USAGE, _X, codex_wire.usage),
    ("GET", "/backend-api/accounts/check/v4-2023-04-27"): Route(Kind.PROFILE, _X, codex_wire.accounts),
    ("GET", "/backend-api/wham/accounts/check"): Route(Kind.PROFILE, _X, codex_wire.routing),
    ("POST", "/backend-api/codex/responses"): Route(Kind.MODEL, _X, openai_model.codex_responses),
    ("GET", "/backend-api/codex/responses"): Route(Kind.OTHER, _X, codex_wire.no_websocket),
    ("GET", "/backend-api/codex/models"): Route(Kind.OTHER, _X, codex_wire.models),
    ("POST", "/v1/chat/completions"): Route(Kind.MODEL, _X, openai_model.chat_completions),
    ("POST", "/v1/responses"): Route(Kind.MODEL, _X, openai_model.responses),
}
HELLO = frozenset({"/api/hello", "/v1/oauth/hello"})
REFRESH: Mapping[str, Vendor] = {"/v1/oauth/token": _C, "/oauth/token": _X}
