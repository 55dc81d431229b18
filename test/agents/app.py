"""A program that knows nothing of a gateway: one call with each SDK."""

import os

import boto3
import litellm
from anthropic import Anthropic
from fireworks import Fireworks
from google import genai
from openai import OpenAI
from together import Together

HELLO = [{"role": "user", "content": "Say hello."}]
LLAMA = "meta-llama/Llama-3.3-70B-Instruct-Turbo"
FIREWORKS_MODEL = "accounts/fireworks/models/deepseek-v3p1"
BEDROCK_MODEL = "anthropic.claude-haiku-4-5-20251001-v1:0"

OpenAI().chat.completions.create(model="gpt-5.4-mini", messages=HELLO)
OpenAI().responses.create(model="gpt-5.4-mini", input="Say hello.")
Anthropic().messages.create(model="claude-haiku-4-5", max_tokens=64, messages=HELLO)
gemini = genai.Client()
gemini.models.generate_content(model="gemini-3.5-flash", contents="Say hello.")
boto3.client("bedrock-runtime", region_name="eu-west-1").converse(
    modelId=BEDROCK_MODEL, messages=[{"role": "user", "content": [{"text": "Say hello."}]}]
)
Together().chat.completions.create(model=LLAMA, messages=HELLO)
Fireworks().chat.completions.create(model=FIREWORKS_MODEL, messages=HELLO)
for model in [
    "openai/gpt-5.4-mini",
    "anthropic/claude-haiku-4-5",
    "gemini/gemini-3.5-flash",
    f"together_ai/{LLAMA}",
    f"fireworks_ai/{FIREWORKS_MODEL}",
    "deepseek/deepseek-chat",
]:
    litellm.completion(model=model, messages=HELLO, max_tokens=64)
print(os.environ["TOLLGATE_BASE_URL"])
