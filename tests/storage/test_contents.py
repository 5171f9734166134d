"""Text leaves the store only with the hash it came with."""

import pytest

from codeflow_memory.domain.errors import StoreUnusableError
from codeflow_memory.domain.memory import Content, Kind
from codeflow_memory.storage import contents

CONTENT = Content(Kind.FACT, "Port", "The service listens on 8080")


def test_a_text_that_changed_in_the_store_is_refused_and_not_shown():
    damaged = CONTENT.canonical().replace("8080", "8081")

    with pytest.raises(StoreUnusableError) as refusal:
        contents.read("mem_1", damaged, CONTENT.sha256())
    assert "8081" not in str(refusal.value)
    with pytest.raises(StoreUnusableError):
        contents.fields("mem_1", damaged, CONTENT.sha256())
    with pytest.raises(StoreUnusableError):
        contents.read("mem_1", CONTENT.canonical(), None)


def test_a_whole_text_comes_back_and_a_tombstone_has_none():
    canonical, sha256 = CONTENT.canonical(), CONTENT.sha256()

    assert contents.read("mem_1", canonical, sha256) == CONTENT
    assert contents.fields("mem_1", canonical, sha256)["title"] == "Port"
    assert contents.read("mem_1", None, None) is None
