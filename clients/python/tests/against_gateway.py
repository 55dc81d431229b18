"""Run by `npm run test:helpers` with a real gateway at TOLLGATE_URL: two runs side by side, signed and unsigned calls."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import httpx
import requests

import tollgate

tollgate.install()
BODY: Any = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hi"}]}
OPENAI = "https://api.openai.com/v1/chat/completions"
HEADERS = {"Authorization": "Bearer sk-proj-test"}


def converse() -> None:
    bedrock = boto3.client("bedrock-runtime", "us-east-1", aws_access_key_id="AKIATEST", aws_secret_access_key="secret")
    bedrock.converse(modelId="amazon.nova-lite-v1:0", messages=[{"role": "user", "content": [{"text": "Hi"}]}])


async def work() -> None:
    async with httpx.AsyncClient() as client:
        with tollgate.step("plan"):
            (await client.post(OPENAI, json=BODY, headers=HEADERS)).raise_for_status()
            with tollgate.step("prüfen / 1"), ThreadPoolExecutor(2) as pool:
                answers = list(pool.map(lambda _: requests.post(OPENAI, json=BODY, headers=HEADERS, timeout=30), range(2)))
                assert [answer.status_code for answer in answers] == [200, 200]
        with tollgate.step("sign"):
            await asyncio.to_thread(converse)


async def main() -> None:
    async def one(run_id: str) -> None:
        with tollgate.run(run_id, feature="helpers"):
            await work()

    await asyncio.gather(one("helper-x"), one("helper-y"))


asyncio.run(main())
