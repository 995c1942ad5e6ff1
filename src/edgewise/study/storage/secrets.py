"""URLs without what nobody should read: for messages, logs and screens."""

from __future__ import annotations

import re

_QUERY = re.compile(
    r"(?i)([?&;\s](?:[a-z_]*(?:pass|pwd|secret|token|api_?key)[a-z_]*)\s*=\s*)('[^']*'|[^&;\s]*)"
)
_HIDDEN = "***"


def masked(url: str) -> str:
    """A URL whose password is hidden, wherever it stands and however the URL is misspelt.

    >>> masked("postgresql://ann:s3cret@host/studies?sslpassword=x&application_name=farm")
    'postgresql://ann:***@host/studies?sslpassword=***&application_name=farm'
    >>> masked("postgres:/ann:s3c@r/et@host"), masked("sqlite:///farm.db")
    ('postgres:***@host', 'sqlite:///farm.db')
    """
    url = _QUERY.sub(rf"\g<1>{_HIDDEN}", url)
    before, at, host = url.rpartition("@")
    scheme, slashes, rest = (
        before.rpartition("://") if before.count("://") == 1 else ("", "", before)
    )
    user, colon, _ = rest.partition(":")
    if not at or not colon:
        return url
    return f"{scheme}{slashes}{user}:{_HIDDEN}@{host}"


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
    return [value.strip("'") for _, value in _QUERY.findall(url)]
