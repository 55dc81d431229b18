"""boto3: the request is signed for AWS's host, and led behind the signer."""

from __future__ import annotations

import traceback
from typing import Any

import pytest
from recorder import Recorder

import tollgate


def client(**credentials: str) -> Any:
    import boto3

    return boto3.client("bedrock-runtime", region_name="eu-west-1", **credentials)


def converse(bedrock: Any) -> None:
    bedrock.converse(modelId="amazon.nova-lite-v1:0", messages=[{"role": "user", "content": [{"text": "Hi"}]}])


def test_a_signature_covers_awss_host_and_none_of_our_headers(gateway: Recorder) -> None:
    bedrock = client(aws_access_key_id="AKIATEST", aws_secret_access_key="secret")
    with tollgate.run("r"), tollgate.step("a"):
        converse(bedrock)
    [request] = gateway.requests
    assert request.target == "/model/amazon.nova-lite-v1%3A0/converse"
    assert request.headers["host"] == "bedrock-runtime.eu-west-1.amazonaws.com"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIATEST/")
    signed = request.headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    assert "host" in signed
    assert not [name for name in signed if name.startswith("x-gateway")]
    assert request.of_ours == {
        "x-gateway-key": "tgk_test",
        "x-gateway-provider": "bedrock",
        "x-gateway-trace-id": "r",
        "x-gateway-span-path": "a",
    }


def test_an_api_key_passes_over_plain_http(gateway: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "ABSKtest")
    converse(client())
    [request] = gateway.requests
    assert request.headers["authorization"] == "Bearer ABSKtest"
    assert request.headers["host"] == "bedrock-runtime.eu-west-1.amazonaws.com"


def test_other_services_of_aws_are_left_alone(gateway: Recorder) -> None:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import EndpointConnectionError

    quick = Config(retries={"max_attempts": 0}, connect_timeout=1)
    s3 = boto3.client(
        "s3", "eu-west-1", aws_access_key_id="a", aws_secret_access_key="b", endpoint_url="http://127.0.0.1:9", config=quick
    )
    with pytest.raises(EndpointConnectionError):
        s3.list_buckets()
    assert gateway.requests == []


def test_an_answer_and_an_error_show_the_address_that_was_asked_for_and_no_token(gateway: Recorder) -> None:
    from botocore.awsrequest import AWSRequest
    from botocore.exceptions import EndpointConnectionError
    from botocore.httpsession import URLLib3Session

    url = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse"
    tollgate.install(f"{gateway.url}/@tgr_secret", "")
    request = AWSRequest("POST", url, data=b"{}").prepare()
    assert URLLib3Session().send(request).url == url
    assert gateway.requests[0].target == "/@tgr_secret/model/m/converse"
    tollgate.install("http://127.0.0.1:9/@tgr_secret", "")
    with pytest.raises(EndpointConnectionError, match="127.0.0.1:9") as caught:
        URLLib3Session().send(request)
    assert "tgr_secret" not in "".join(traceback.format_exception(caught.value)) + repr(caught.value.kwargs)
