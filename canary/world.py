"""World: every port through which the outside comes in, with real ones only at the composition root."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from canary.clock import Clock
from canary.files import Sleep
from canary.offload import Offloader
from canary.sources.keychain import Keychain
from decide.rungs.http import Fetch

PURPOSE = "reads quotas; calls no model"
"""What the canary tells a host that it is there for."""


@dataclass(frozen=True, slots=True)
class World:
    """The clock, HTTP out, pauses, blocking calls, the key ring and the environment."""

    clock: Clock
    fetch: Fetch
    sleep: Sleep
    keychain: Keychain
    environ: Mapping[str, str] = field(repr=False)
    offloader: Offloader = field(default_factory=Offloader)
