"""
Stands in for the gateway and the providers behind it: a tool call where tools are offered and none was called yet, else
text. Counts calls by run and step, as the headers say.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

Json = dict[str, Any]


def chat(body: Json) -> Json:
    tools = [tool["function"]["name"] for tool in body.get("tools") or []]
    message: Json = {"role": "assistant", "content": "Final answer: done"}
    tool = pick(tools, [one for one in body["messages"] if one.get("role") == "tool"])
    if tool:
        call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": arguments_of(tool)}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if tool else "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice], "usage": usage}


def chat_stream(body: Json) -> bytes:
    whole = chat(body)
    delta = dict(whole["choices"][0]["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": 0, **call} for call in delta["tool_calls"]]
    head = {**whole, "object": "chat.completion.chunk"}
    del head["usage"]
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": whole["choices"][0]["finish_reason"]}]},
        {**head, "choices": [], "usage": whole["usage"]},
    ]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


def responses(body: Json) -> Json:
    tools = [tool["name"] for tool in body.get("tools") or [] if tool.get("type") == "function"]
    given = body["input"] if isinstance(body["input"], list) else []
    tool = pick(tools, [one for one in given if one.get("type") == "function_call_output"])
    text = {"type": "output_text", "text": "done", "annotations": []}
    item: Json = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [text]}
    if tool:
        item = {"type": "function_call", "id": "f", "call_id": "call_1", "name": tool, "arguments": arguments_of(tool), "status": "completed"}
    details: Json = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5, **details}
    fixed: Json = {"parallel_tool_calls": False, "tool_choice": "auto", "tools": [], "error": None, "status": "completed"}
    return {"id": "r", "object": "response", "created_at": 1, "model": body["model"], "output": [item], "usage": usage, **fixed}


def messages(body: Json) -> Json:
    tools = [tool["name"] for tool in body.get("tools") or []]
    results = [
        part for one in body["messages"] if isinstance(one["content"], list)
        for part in one["content"] if part.get("type") == "tool_result"
    ]
    tool = pick(tools, results)
    part: Json = {"type": "text", "text": "done"}
    if tool:
        part = {"type": "tool_use", "id": "toolu_1", "name": tool, "input": json.loads(arguments_of(tool))}
    usage = {"input_tokens": 3, "output_tokens": 2}
    end = "tool_use" if tool else "end_turn"
    return {"id": "m", "type": "message", "role": "assistant", "model": body["model"], "content": [part], "stop_reason": end, "stop_sequence": None, "usage": usage}


def messages_stream(body: Json) -> bytes:
    whole = messages(body)
    [part] = whole["content"]
    start: Json = {**part, "input": {}} if part["type"] == "tool_use" else {**part, "text": ""}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(part["input"])} if "input" in part else {"type": "text_delta", "text": part["text"]}
    events: list[Json] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def gemini(body: Json) -> Json:
    tools = [one["name"] for tool in body.get("tools") or [] for one in tool.get("functionDeclarations") or []]
    parts = [part for content in body["contents"] for part in content.get("parts") or []]
    tool = pick(tools, [part for part in parts if "functionResponse" in part])
    part: Json = {"functionCall": {"name": tool, "args": json.loads(arguments_of(tool))}} if tool else {"text": "done"}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2, "totalTokenCount": 5}
    return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}


def converse(body: Json) -> Json:
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    message = {"role": "assistant", "content": [{"text": "done"}]}
    return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage, "metrics": {"latencyMs": 1}}


def pick(tools: list[str], called: list[Any]) -> str | None:
    return tools[0] if tools and not called else None


def arguments_of(tool: str) -> str:
    """By the name of the tool, since each framework has a form of its own for some."""
    known: dict[str, Json] = {
        "transfer_to_agent": {"agent_name": "helper"},
        "final_answer": {"answer": "done"},
        "helper": {"input": "go", "request": "go", "task": "go"},
        "transfer_to_helper": {},
    }
    return json.dumps(known.get(tool, {"text": "go"}))


class FakeProvider:
    """`calls` is by (run, path); a call without run has None."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str | None, str]] = Counter()
        self.unnamed: list[str] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
                path = "/".join(unquote(part) for part in (self.headers.get("x-gateway-span-path") or "").split("/"))
                fake.calls[(self.headers.get("x-gateway-trace-id"), path)] += 1
                if self.headers.get("x-gateway-key") is None or self.headers.get("x-gateway-provider") is None:
                    fake.unnamed.append(self.path)
                self.answer(body)

            def answer(self, body: Json) -> None:
                if self.path.endswith("/chat/completions"):
                    if body.get("stream"):
                        self.reply(chat_stream(body), "text/event-stream")
                        return
                    found = chat(body)
                elif self.path.endswith("/responses"):
                    found = responses(body)
                elif "/messages" in self.path and body.get("stream"):
                    self.reply(messages_stream(body), "text/event-stream")
                    return
                elif "/messages" in self.path:
                    found = messages(body)
                elif "generateContent" in self.path:
                    found = gemini(body)
                else:
                    found = converse(body)
                self.reply(json.dumps(found).encode(), "application/json")

            def do_GET(self) -> None:
                self.reply(b'{"data":[]}', "application/json")

            def reply(self, data: bytes, content_type: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
