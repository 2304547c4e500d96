"""Console access: who may use the console, from the configuration and what it names."""

from collections.abc import Mapping
from ipaddress import ip_network

from canary.config import Config
from canary.own_name import own_name
from canary.secret import secret
from exporters.console.access import Access, Read, Secret

NOBODY = "local"
"""What somebody on this machine is called where the system knows no name for the daemon's user."""


def access_of(config: Config, environ: Mapping[str, str]) -> Access:
    """Who may read and write; raises UsageError for a password that cannot be had."""
    section = config.console
    users: dict[str, Secret] = {}
    for one in section.user:
        found = secret("console.user.password_env", one.password_env, one.password_file, environ)
        users[one.name] = found.get_secret_value
    return Access(
        read=Read(section.read),
        local_user=section.local_user or own_name() or NOBODY,
        users=users,
        proxy_header=section.proxy_header or "",
        proxies=tuple(map(ip_network, section.proxies)),
        hosts=section.hosts,
    )
