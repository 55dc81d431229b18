import { expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import { USAGE_FORMATS } from './registry.ts';

test.each<[UsageFormatName, string, boolean]>([
  ['chat-completions', '{"choices":[{"delta":{"content":"a"}}]}', false],
  ['chat-completions', '{"choices":[{"delta":{"content":"a"}}],"usage":null,"error":null}', false],
  ['chat-completions', '{"choices":[],"usage": null, "error" : null}', false],
  ['chat-completions', '{"choices":[{"delta":{"content":"\\"usage\\":{\\"error\\":1}"}}]}', false],
  ['chat-completions', '{"choices":[],"usage" : {"prompt_tokens":1}}', true],
  ['chat-completions', '{"error":{"message":"m"}}', true],
  ['chat-completions', '{"error": "text"}', true],
  ['chat-completions', '{"usage":null,"choices":[],"x":{"usage":{"prompt_tokens":1}}}', true],
  ['responses', '{"type":"response.output_text.delta","delta":"a"}', false],
  ['responses', '{"type":"response.created","response":{"error":null,"usage":null}}', false],
  ['responses', '{"type":"error","code":"x"}', true],
  ['messages', '{"type":"content_block_delta","delta":{"text":"message_stop"}}', false],
  ['messages', '{"type":"message_stop"}', true],
  ['messages', '{"type": "error"}', true],
  ['generate-content', '{"candidates":[],"usageMetadata":{}}', true],
  ['converse', '{"contentBlockIndex":0,"delta":{"text":"hi"}}', false],
  ['converse', '{"usage":{"inputTokens":1}}', true],
  ['opaque', '{"usage":{"inputTokens":1}}', false],
])('%s: may %s matter? %s', (format, data, expected) => {
  expect(USAGE_FORMATS[format].mayMatter(Buffer.from(data))).toBe(expected);
});
