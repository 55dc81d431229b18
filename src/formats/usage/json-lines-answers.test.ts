/** Answers that are JSON lines, through the reader: what is read of each line, and when the reading is whole. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ReportedUsage } from '../../vocabulary/token-usage.ts';
import { chatCompletions } from './chat-completions.ts';
import { createUsageReader } from './usage-reader.ts';

/** Keeps the latest usage; a format of batch results would sum. */
const LINES = { ...chatCompletions, areLines: true };
const BODY = Buffer.from(
  '{"model":"m","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}\r\n' +
    '{"model":"m","usage":{"prompt_tokens":4,"completion_tokens":5,"total_tokens":9}}',
);

function open(contentType: string | null, contentEncoding: string | null = null) {
  return createUsageReader({ format: LINES, status: 200, contentType, contentEncoding });
}

function read(contentType: string | null, body: Buffer, complete = true, contentEncoding: string | null = null) {
  const reader = open(contentType, contentEncoding);
  reader.push(body);
  return new Promise<ReportedUsage>((resolve) => reader.finish(complete, resolve));
}

describe('an answer of JSON lines', () => {
  test.each([
    'application/x-jsonl',
    'application/jsonl; charset=utf-8',
    'Application/X-NDJSON',
    'application/x-jsonlines',
    'application/octet-stream',
    'application/binary',
    null,
  ])('as %s is read line by line to its end', async (contentType) => {
    const { usage, terminal, flags } = await read(contentType, BODY);
    expect({ classes: usage?.classes, terminal, flags }).toEqual({
      classes: { input: 4, output: 5 },
      terminal: true,
      flags: [],
    });
  });

  test('that is compressed is read too', async () => {
    const { usage, terminal } = await read('application/x-jsonl', gzipSync(BODY), true, 'gzip');
    expect({ classes: usage?.classes, terminal }).toEqual({ classes: { input: 4, output: 5 }, terminal: true });
  });

  test('that is cut claims the whole lines before the cut, and no end', async () => {
    for (let cut = 0; cut < BODY.length; cut += 1) {
      const { terminal, flags } = await read('application/x-jsonl', BODY.subarray(0, cut), false);
      expect({ terminal, flags }, `cut at ${cut}`).toEqual({ terminal: false, flags: [] });
    }
    const { usage } = await read('application/x-jsonl', BODY.subarray(0, 100), false);
    expect(usage?.classes).toEqual({ input: 1, output: 2 });
  });

  test('with a line that is not JSON keeps the others and is remarked', async () => {
    const body = Buffer.from(`{"usage":{oops}}\n${BODY.toString()}`);
    const { usage, terminal, flags } = await read('application/x-jsonl', body);
    expect({ classes: usage?.classes, terminal, flags }).toEqual({
      classes: { input: 4, output: 5 },
      terminal: true,
      flags: ['undecodable'],
    });
  });

  test('of no particular type is not taken for whole for an API that does not send lines', () => {
    const reader = createUsageReader({
      format: chatCompletions,
      status: 200,
      contentType: null,
      contentEncoding: null,
    });
    reader.push(BODY);
    reader.finish(true, (reported) => expect(reported).toMatchObject({ terminal: false, flags: ['undecodable'] }));
  });
});
