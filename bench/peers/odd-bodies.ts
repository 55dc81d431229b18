/**
 * Bodies that mean the same however they are written, and are written in no program's own way: members out of order,
 * spaces, escapes, a number with a zero behind, unknown members. Whoever parses and writes them anew changes bytes.
 */

export const WHOLE_REQUEST = `{ "messages":[ {"content":"caf\\u00e9","role":"user"} ],
  "temperature":0.20, "x_unknown": {"b":1, "a":2},"model":"gpt-4o-mini" }\n`;

/** It asks for usage itself, so that no gateway has a reason to add that. */
export const STREAM_REQUEST = `{ "messages":[ {"content":"caf\\u00e9","role":"user"} ], "stream": true,
  "stream_options": { "include_usage" : true }, "temperature":0.20,"model":"gpt-4o-mini" }\n`;

const USAGE = '{ "total_tokens":15, "prompt_tokens":12,"completion_tokens":3 }';

export const WHOLE_ANSWER = `{ "usage":${USAGE}, "id":"chatcmpl-1","object":"chat.completion","created":1764284000,
  "model":"gpt-4o-mini-2024-07-18", "x_unknown":{"z":1.50,"a":null},
  "choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"d\\u00e9j\\u00e0"}}] }\n`;

function chunk(members: string): string {
  return `data: {"object":"chat.completion.chunk", "id":"chatcmpl-1","created":1764284000,"model":"gpt-4o-mini-2024-07-18",${members}}\n\n`;
}

export const STREAM_ANSWER = [
  ': a comment\n\n',
  chunk('"choices":[{"delta":{"content":"d\\u00e9","role":"assistant"},"index":0,"finish_reason":null}], "x":1.50'),
  chunk('"choices":[{"index":0,"delta":{ },"finish_reason":"stop"}]'),
  chunk(`"choices":[],"usage":${USAGE}`),
  'data: [DONE]\n\n',
].join('');
