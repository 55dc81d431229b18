"""What `install()` is told, by arguments and environment."""

from __future__ import annotations

import pytest

import tollgate
from tollgate._settings import read_settings


def test_the_environment_says_address_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOLLGATE_URL", "https://gateway.example/llm/")
    monkeypatch.setenv("TOLLGATE_KEY", "tgk_a")
    assert read_settings().base == "https://gateway.example/llm"
    assert tollgate.base_url() == "https://gateway.example/llm/v1"
    assert tollgate.base_url("anthropic") == "https://gateway.example/llm"
    assert tollgate.headers() == {"X-Gateway-Key": "tgk_a"}


def test_without_a_key_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOLLGATE_KEY", raising=False)
    with pytest.raises(ValueError, match="TOLLGATE_KEY is not set"):
        tollgate.install()


def test_a_token_in_the_address_is_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOLLGATE_KEY", raising=False)
    assert read_settings("http://127.0.0.1:4141/@tgr_x").key is None


@pytest.mark.parametrize("url", ["127.0.0.1:4141", "ftp://a", "http://user:secret@a", "http://a/?k=secret"])
def test_what_is_no_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ValueError, match="TOLLGATE_URL must be") as refused:
        read_settings(url, "tgk_a")
    assert "secret" not in str(refused.value)


def test_a_broken_key_is_refused_without_repeating_it() -> None:
    with pytest.raises(ValueError, match="is not a gateway key") as refused:
        read_settings("http://a", "tgk_secret\nX: 1")
    assert "secret" not in str(refused.value)


def test_the_key_is_not_in_what_is_printed() -> None:
    assert "secret" not in repr(read_settings("http://a", "tgk_secret"))


def test_an_unknown_provider_is_named() -> None:
    tollgate.install("http://a", "tgk_a")
    try:
        with pytest.raises(ValueError, match="unknown provider 'mistral'"):
            tollgate.base_url("mistral")
    finally:
        tollgate.uninstall()
