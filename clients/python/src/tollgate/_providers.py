"""
Which hosts are led to the gateway. Exact names only: the gateway sends a call to a provider's one address, so a call
to another region of it (`eu.api.openai.com`) would change its place, and stays as it is.
"""

from __future__ import annotations

import re

HOSTS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gemini",
    "api.together.ai": "together",
    "api.together.xyz": "together",
    "api.fireworks.ai": "fireworks",
    "api.deepseek.com": "deepseek",
}

# What a provider's own SDK takes as its base address: OpenAI's has the version in it.
BASE_PATHS = {
    "openai": "/v1",
    "anthropic": "",
    "gemini": "",
    "bedrock": "",
    "together": "",
    "fireworks": "",
    "deepseek": "",
}

_REGION = (
    r"[a-z]{2}(?:sc)?(?:-gov|-iso[a-z]?|-de)?"
    r"-(?:central|north|south|east|west|(?:north|south)(?:east|west))-\d"
)
_BEDROCK = re.compile(rf"bedrock-runtime\.{_REGION}\.(?:amazonaws\.com(?:\.cn)?|api\.aws)")
# The gateway reaches these under their own names only where a signature names the service.
_SIGNED_ONLY = (
    (re.compile(rf"bedrock-runtime-fips\.{_REGION}\.(?:amazonaws\.com|api\.aws)"), "bedrock"),
    (re.compile(rf"bedrock-mantle\.{_REGION}\.api\.aws"), "bedrock"),
    (re.compile(rf"aws-external-anthropic\.{_REGION}\.api\.aws"), "anthropic"),
)


def provider_of_host(host: str, is_signed: bool) -> str | None:
    """`host` in lower case. `is_signed` says that the request carries an AWS signature."""
    if host in HOSTS:
        return HOSTS[host]
    if _BEDROCK.fullmatch(host):
        return "bedrock"
    if is_signed:
        for pattern, provider in _SIGNED_ONLY:
            if pattern.fullmatch(host):
                return provider
    return None


def is_aws_host(host: str) -> bool:
    """An AWS host stays in the `Host` header: the signature covers it, and it tells the region where none is."""
    return host not in HOSTS


def is_report(provider: str, target: str) -> bool:
    """What an SDK reports about itself to the provider, in the background: no call of a model, and of no run."""
    return provider == "openai" and target.startswith("/v1/traces")
