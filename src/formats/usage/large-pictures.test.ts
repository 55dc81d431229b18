/** Usage that stands behind pictures of many megabytes, as they come over a connection: in pieces. */
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { ReportedUsage } from '../../vocabulary/token-usage.ts';
import { USAGE_FORMATS } from './registry.ts';
import { createUsageReader } from './usage-reader.ts';

const PIECE_BYTES = 16 * 1024;
/** More than what is held of a body, or of an event. */
const PICTURE = randomBytes(6.5 * 1024 * 1024).toString('base64');
const USAGE = { input_tokens: 14, output_tokens: 4160, total_tokens: 4174 };
const DRAWN = { input: 14, output: 0, output_image: 4160 };

async function read(format: UsageFormatName, contentType: string, body: Buffer, contentEncoding: string | null = null) {
  const reader = createUsageReader({ format: USAGE_FORMATS[format], status: 200, contentType, contentEncoding });
  let mostBuffered = 0;
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    reader.push(body.subarray(at, at + PIECE_BYTES));
    // What is decoded beside the call needs its turns, as it has them between the pieces of a connection.
    while (contentEncoding !== null && reader.bufferedBytes > 1024 * 1024) await nextTurn();
    mostBuffered = Math.max(mostBuffered, reader.bufferedBytes);
  }
  const reported = await new Promise<ReportedUsage>((resolve) => reader.finish(true, resolve));
  return { reported, mostBuffered };
}

function expectWhole({ reported }: { reported: ReportedUsage }, classes: object): void {
  expect({ classes: reported.usage?.classes, terminal: reported.terminal, flags: reported.flags }).toEqual({
    classes,
    terminal: true,
    flags: [],
  });
}

test('two pictures in one JSON answer', async () => {
  const body = JSON.stringify({ created: 1, data: [{ b64_json: PICTURE }, { b64_json: PICTURE }], usage: USAGE });
  const whole = await read('images', 'application/json', Buffer.from(body));
  expectWhole(whole, DRAWN);
  expect(whole.mostBuffered).toBeLessThan(256 * 1024);
  const encoded = gzipSync(body, { level: 1 });
  expectWhole(await read('images', 'application/json', encoded, 'gzip'), DRAWN);
});

test('a picture in the last event of a stream, of images and of a response', async () => {
  const done = { type: 'image_generation.completed', b64_json: PICTURE, usage: USAGE };
  const images = await read('images', 'text/event-stream', Buffer.from(`data: ${JSON.stringify(done)}\n\n`));
  expectWhole(images, DRAWN);
  expect(images.mostBuffered).toBeLessThan(256 * 1024);
  const response = { status: 'completed', output: [{ type: 'image_generation_call', result: PICTURE }], usage: USAGE };
  const event = `event: response.completed\ndata: ${JSON.stringify({ type: 'response.completed', response })}\n\n`;
  expectWhole(await read('responses', 'text/event-stream', Buffer.from(event)), { input: 14, output: 4160 });
});

test('text that looks alike stays JSON wherever it is cut', async () => {
  const text = `${'\\u00e9'.padEnd(12_000, 'A')}${'\\\\'.padEnd(3_000, 'b')}`;
  const body = Buffer.from(`{"text":"${text}","usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}`);
  for (let cut = 1; cut < 40; cut += 1) {
    const reader = createUsageReader({
      format: USAGE_FORMATS.responses,
      status: 200,
      contentType: 'application/json',
      contentEncoding: null,
    });
    for (const piece of [body.subarray(0, cut), body.subarray(cut, cut + 5_000), body.subarray(cut + 5_000)])
      reader.push(piece);
    const reported = await new Promise<ReportedUsage>((resolve) => reader.finish(true, resolve));
    expect([cut, reported.usage?.classes, reported.flags]).toEqual([cut, { input: 3, output: 1 }, []]);
  }
});
