"""What every answer tells a browser: render nothing, run nothing, share nothing, keep nothing.

No page is meant to use an answer of the API. These headers hold for the day on which one is made
to: by a link, a frame, a hole in a page of ours, or a page of another origin.
"""

from typing import Final

_NOTHING: Final = (
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
"""The directives that ``default-src`` does not stand for have to be said one by one."""

_FEATURES: Final = (
    "accelerometer",
    "autoplay",
    "bluetooth",
    "camera",
    "clipboard-read",
    "clipboard-write",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "hid",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "storage-access",
    "usb",
    "web-share",
    "xr-spatial-tracking",
)
"""There is no directive for all of them."""


def content_policy(*sources: str) -> str:
    """Return a ``Content-Security-Policy`` that allows *sources* and nothing else.

    Args:
        sources: Directives, such as ``style-src 'sha256-…'``.
    """
    return "; ".join((*_NOTHING, *sources))


SECURITY_HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", content_policy().encode("ascii")),
    (b"permissions-policy", ", ".join(f"{name}=()" for name in _FEATURES).encode("ascii")),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""On every answer that does not carry its own."""
