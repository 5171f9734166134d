"""Keys: each tenant instance and each purpose has one of its own, and each is the same for ever."""

import hmac
from collections import Counter
from dataclasses import replace

import pytest

from codeflow_memory.adapters.secrets import TenantKeys, new_token, same

KEYS = TenantKeys(b"k" * 32, "instance")

USES = {
    "check": lambda keys: keys.check(),
    "token": lambda keys: keys.token_hash("x"),
    "request": lambda keys: keys.request_hash("x"),
    "operation": lambda keys: keys.operation_id("x"),
    "tombstone": lambda keys: keys.text_hash("x"),
    "audit": lambda keys: keys.audit_hash(1, "", "x"),
    "checkpoint": lambda keys: keys.checkpoint_signature("x"),
    "cursor": lambda keys: keys.cursor_key,
}


def held(keys):
    """Each key, by its purpose."""
    return {
        "token": keys._token,
        "request": keys._request,
        "tombstone": keys._tombstone,
        "audit": keys._audit,
        "checkpoint": keys._checkpoint,
        "cursor": keys.cursor_key,
    }


def hkdf(key, info):
    """RFC 5869 with SHA-256, no salt, one block: 32 bytes."""
    return hmac.digest(hmac.digest(bytes(32), key, "sha256"), info + b"\x01", "sha256")


@pytest.mark.parametrize("purpose", held(KEYS))
def test_a_key_is_derived_from_the_home_key_by_instance_and_purpose(purpose):
    info = f"codeflow-memory/1/instance/{purpose}".encode()

    assert held(KEYS)[purpose] == hkdf(b"k" * 32, info)


def test_no_two_purposes_share_a_key():
    keys = [*held(KEYS).values(), hkdf(b"k" * 32, b"codeflow-memory/1/instance/check")]

    assert len(set(keys)) == len(keys)
    assert KEYS.check() == hmac.digest(keys[-1], b"", "sha256").hex()


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    "changed", [{"instance_id": "another"}, {"home_key": b"K" * 32}], ids=["instance", "home"]
)
def test_another_instance_and_another_home_have_other_keys_for_everything(use, changed):
    other = replace(KEYS, **changed)

    assert USES[use](other) != USES[use](KEYS) == USES[use](replace(KEYS))


def test_each_use_takes_the_key_of_its_purpose():
    keys = held(KEYS)

    assert KEYS.token_hash("x") == hmac.digest(keys["token"], b"x", "sha256").hex()
    assert KEYS.text_hash("x") == hmac.digest(keys["tombstone"], b"x", "sha256").hex()
    assert KEYS.audit_hash(1, "p", "r") == hmac.digest(keys["audit"], b"1\np\nr", "sha256").hex()
    assert KEYS.checkpoint_signature("x") == hmac.digest(keys["checkpoint"], b"x", "sha256").hex()
    assert KEYS.operation_id("x") == hmac.digest(keys["request"], b"operation\nx", "sha256").hex()
    assert KEYS.request_hash("ab", "c") != KEYS.request_hash("a", "bc")


def test_a_secret_has_at_least_256_bits_and_none_comes_twice():
    """43 of 62 characters; that each is as likely as the others shows in how often they come."""
    secrets = [new_token("local").secret for _ in range(500)]
    letters = Counter("".join(secrets))

    assert {len(secret) for secret in secrets} == {43}
    assert 62**43 >= 2**256
    assert len(set(secrets)) == len(secrets)
    assert len(letters) == 62
    assert max(letters.values()) < 2 * min(letters.values())


def test_hashes_are_compared_in_constant_time(monkeypatch):
    """Time itself is measured through HTTP, where a few nanoseconds could not be seen."""
    asked = []
    compare = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda *of: asked.append(of) or compare(*of))

    assert same("ab", "ab")
    assert not same("ab", "ac")

    assert asked == [(b"ab", b"ab"), (b"ab", b"ac")]
