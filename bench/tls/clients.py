"""
The official Python clients against a gateway with TLS at BASE, trusting what the environment says and no more. Prints one
line for each that worked, with the protocol where it can be chosen; ends with the first failure. Started by run.ts.
"""

import asyncio
import os

import anthropic
import boto3
import httpx
import httpx2
import openai
import requests
from google import genai
from google.genai import types

BASE, KEY = os.environ["BASE"], os.environ["KEY"]
DEMO = {"X-Gateway-Key": KEY, "X-Gateway-Provider-Alias": "demo"}
HELLO = [{"role": "user", "content": "Hello"}]


def worked(name, protocol=""):
    print(f"{name} {protocol}".strip(), flush=True)


def read(stream):
    events = sum(1 for _ in stream)
    assert events > 1, "a stream came in one piece"


def ask_models(http2):
    seen = set()

    def note(response):
        seen.add(response.http_version)

    def client(library):
        return library.Client(http2=http2, event_hooks={"response": [note]})

    def protocol():
        assert len(seen) == 1, seen
        return seen.pop()

    oai = openai.OpenAI(
        api_key="sk-1", base_url=f"{BASE}/v1", default_headers=DEMO, max_retries=0, http_client=client(httpx)
    )
    oai.chat.completions.create(model="gpt-4o-mini", messages=HELLO)
    read(oai.chat.completions.create(model="gpt-4o-mini", messages=HELLO, stream=True))
    worked("openai", protocol())

    ant = anthropic.Anthropic(
        api_key="sk-ant-1", base_url=BASE, default_headers=DEMO, max_retries=0, http_client=client(httpx2)
    )
    message = {"model": "claude-haiku-4-5", "max_tokens": 99, "messages": HELLO}
    ant.messages.create(**message)
    read(ant.messages.create(**message, stream=True))
    worked("anthropic", protocol())

    options = types.HttpOptions(base_url=BASE, headers=DEMO, client_args={"http2": http2, "event_hooks": {"response": [note]}})
    gem = genai.Client(api_key="AIza-1", http_options=options)
    gem.models.generate_content(model="gemini-2.5-flash", contents="Hello")
    read(gem.models.generate_content_stream(model="gemini-2.5-flash", contents="Hello"))
    worked("google-genai", protocol())


def ask_bedrock():
    os.environ["AWS_BEARER_TOKEN_BEDROCK"] = "bedrock-api-key-" + "x" * 40
    client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=BASE)

    def add_headers(params, **_):
        params["headers"].update(DEMO)

    client.meta.events.register("before-call.bedrock-runtime", add_headers)
    call = {"modelId": "anthropic.claude-haiku-4-5-20251001-v1:0", "messages": [{"role": "user", "content": [{"text": "Hello"}]}]}
    client.converse(**call)
    read(client.converse_stream(**call)["stream"])
    worked("botocore with an API key")


async def ask_live():
    options = types.HttpOptions(base_url=BASE, headers={**DEMO, "X-Gateway-Provider-Alias": "live"})
    client = genai.Client(api_key="AIza-1", http_options=options)
    async with client.aio.live.connect(model="gemini-live-2.5-flash") as session:
        await session.send_client_content(turns={"role": "user", "parts": [{"text": "Hello"}]}, turn_complete=True)
        async for answer in session.receive():
            if answer.server_content and answer.server_content.turn_complete:
                worked("google-genai live", "websocket")
                return


# The defaults first: nothing given but addresses and keys.
openai.OpenAI(api_key="sk-1", base_url=f"{BASE}/v1", default_headers=DEMO).chat.completions.create(
    model="gpt-4o-mini", messages=HELLO
)
anthropic.Anthropic(api_key="sk-ant-1", base_url=BASE, default_headers=DEMO).messages.create(
    model="claude-haiku-4-5", max_tokens=99, messages=HELLO
)
worked("openai, anthropic as they come")
for http2 in (False, True):
    ask_models(http2)
ask_bedrock()
asyncio.run(ask_live())
assert requests.get(f"{BASE}/healthz").ok
worked("requests")
