"""URLs without what nobody should read: for messages, logs and screens."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

_QUERY = re.compile(r"([?&;\s])([^=&;?\s]+)(\s*=\s*)('[^']*'|[^&;\s]*)")
_HARMLESS = frozenset(
    ("application_name", "cache", "channel_binding", "client_encoding", "connect_timeout", "dbname",
     "gssencmode", "host", "hostaddr", "keepalives", "load_balance_hosts", "mode", "port",
     "sslmode", "target_session_attrs", "timeout", "uri", "user")
)  # fmt: skip
"""Options whose values may be read; of others nobody knows what they hold."""
_HIDDEN = "***"


def masked(url: str) -> str:
    """A URL whose password is hidden, wherever it stands and however the URL is misspelt.

    >>> masked("postgresql://ann:s3cret@host/studies?sslpassword=x&application_name=farm")
    'postgresql://ann:***@host/studies?sslpassword=***&application_name=farm'
    >>> masked("postgres:/ann:s3c@r/et@host"), masked("sqlite:///farm.db")
    ('postgres:***@host', 'sqlite:///farm.db')
    """
    url = _QUERY.sub(_shown, url)
    before, at, host = url.rpartition("@")
    scheme, slashes, rest = (
        before.rpartition("://") if before.count("://") == 1 else ("", "", before)
    )
    user, colon, _ = rest.partition(":")
    if not at or not colon:
        return url
    return f"{scheme}{slashes}{user}:{_HIDDEN}@{host}"


def _shown(option: re.Match[str]) -> str:
    before, name, equals, _ = option.groups()
    if name.casefold() in _HARMLESS:
        return option.group()
    return f"{before}{name}{equals}{_HIDDEN}"


def without_secrets(text: str, url: str) -> str:
    """A message about a URL without any part of its password."""
    before, _, _ = url.rpartition("@")
    _, _, rest = before.rpartition("://")
    _, _, password = rest.partition(":")
    for part in {password, *re.split(r"[@/:?&]", password), *_values(url)}:
        if len(part) > 2:
            text = text.replace(part, _HIDDEN)
    return text


def _values(url: str) -> list[str]:
    found = (
        value.strip("'")
        for _, name, _, value in _QUERY.findall(url)
        if name.casefold() not in _HARMLESS
    )
    return [form for value in found for form in (value, unquote_plus(value))]
