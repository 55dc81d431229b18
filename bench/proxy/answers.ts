/**
 * The answers that the benchmark's provider replays, in the shape of OpenAI's chat completions, and the files that
 * `mock.c` reads them from. All of it is synthetic; sizes follow real answers (2.3 KB of JSON, 270 bytes a chunk).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, crc32, createDeflateRaw } from 'node:zlib';

export const STREAM_CHUNKS = 200;

/** In the order that `mock.c` takes its files. */
const ANSWER_FILES = ['json', 'sse', 'sse-usage', 'sse-gzip', 'sse-usage-gzip'] as const;
type AnswerName = (typeof ANSWER_FILES)[number];

export interface PreparedAnswer {
  readonly file: string;
  /** Length of the body without chunk framing, as a client counts it. */
  readonly bodyBytes: number;
}

interface Segment {
  readonly bytes: Buffer;
  readonly stampOffset: number | null;
}

const NO_STAMP = 0xffffffff;
/** What `load.c` looks for, in front of the digits. */
const STAMP_MARK = '~ts=';
const STAMP_PLACEHOLDER = '0'.repeat(19);
const MODEL = 'gpt-4o-mini-2024-07-18';
const ID = 'chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012';
const WORDS = ['a', ' gateway', ' should', ' add', ' nothing', ' to', ' what', ' it', ' carries', ',', ' and', ' lose'];

const COMMON_HEADERS = [
  'Date: Fri, 27 Nov 2026 22:00:00 GMT',
  'access-control-expose-headers: X-Request-ID',
  'openai-organization: org-1234567890',
  'openai-processing-ms: 312',
  'openai-version: 2020-10-01',
  'x-ratelimit-limit-requests: 10000',
  'x-ratelimit-remaining-requests: 9999',
  'x-request-id: req_0123456789abcdef0123456789abcdef',
  'strict-transport-security: max-age=31536000; includeSubDomains; preload',
  'X-Content-Type-Options: nosniff',
  'Server: cloudflare',
];

const USAGE = {
  prompt_tokens: 1234,
  completion_tokens: STREAM_CHUNKS,
  total_tokens: 1234 + STREAM_CHUNKS,
  prompt_tokens_details: { cached_tokens: 1024, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, accepted_prediction_tokens: 0 },
};

function head(...headers: readonly string[]): Buffer {
  return Buffer.from(
    `${['HTTP/1.1 200 OK', ...headers, 'Connection: keep-alive', ...COMMON_HEADERS].join('\r\n')}\r\n\r\n`,
  );
}

function jsonBody(): Buffer {
  const sentences = Array.from({ length: 25 }, (_, n) => `Sentence ${n} of a synthetic answer, with a "quotation".\n`);
  const answer = {
    id: ID,
    object: 'chat.completion',
    created: 1764284000,
    model: MODEL,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: sentences.join(''), refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: USAGE,
    service_tier: 'default',
    system_fingerprint: 'fp_0123456789',
  };
  return Buffer.from(`${JSON.stringify(answer, null, 2)}\n`);
}

function eventText(index: number, withUsageMember: boolean): string {
  // The stamp is a part of the text, so that the chunk is JSON whatever its digits are.
  const content = `${WORDS[(index * 7) % WORDS.length]}${STAMP_MARK}${STAMP_PLACEHOLDER}`;
  const chunk = {
    id: ID,
    object: 'chat.completion.chunk',
    created: 1764284000,
    model: MODEL,
    service_tier: 'default',
    system_fingerprint: 'fp_0123456789',
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
    ...(withUsageMember ? { usage: null } : {}),
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The events of a stream as text; the last two (usage and the end mark) belong together and leave as one. */
function eventTexts(withUsage: boolean): string[] {
  const events = Array.from({ length: STREAM_CHUNKS }, (_, index) => eventText(index, withUsage));
  const usage = {
    id: ID,
    object: 'chat.completion.chunk',
    created: 1764284000,
    model: MODEL,
    choices: [],
    usage: USAGE,
  };
  return [...events, `${withUsage ? `data: ${JSON.stringify(usage)}\n\n` : ''}data: [DONE]\n\n`];
}

function framed(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]);
}

function streamSegments(headBytes: Buffer, bodies: readonly Buffer[]): Segment[] {
  const segments = bodies.map((body, index): Segment => {
    const isLast = index === bodies.length - 1;
    const bytes = isLast ? Buffer.concat([framed(body), Buffer.from('0\r\n\r\n')]) : framed(body);
    const stampOffset = bytes.indexOf(STAMP_PLACEHOLDER);
    return { bytes, stampOffset: stampOffset < 0 ? null : stampOffset };
  });
  return [{ bytes: headBytes, stampOffset: null }, ...segments];
}

/** Compresses event by event with a flush after each, as servers do that compress a stream; gzip's own frame around. */
async function gzipEvents(texts: readonly string[]): Promise<Buffer[]> {
  const deflate = createDeflateRaw({ flush: constants.Z_SYNC_FLUSH });
  let pending: Buffer[] = [];
  deflate.on('data', (bytes: Buffer) => pending.push(bytes));
  const parts: Buffer[] = [];
  for (const text of texts) {
    await new Promise<void>((resolve) => deflate.write(text, () => deflate.flush(constants.Z_SYNC_FLUSH, resolve)));
    parts.push(Buffer.concat(pending));
    pending = [];
  }
  await new Promise<void>((resolve) => deflate.once('end', resolve).end());
  const whole = Buffer.from(texts.join(''));
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(whole), 0);
  trailer.writeUInt32LE(whole.length, 4);
  const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
  return parts.map((part, index) => {
    if (index === 0) return Buffer.concat([gzipHead, part]);
    return index === parts.length - 1 ? Buffer.concat([part, ...pending, trailer]) : part;
  });
}

function writeAnswer(directory: string, name: AnswerName, segments: readonly Segment[], bodyBytes: number) {
  const file = join(directory, `${name}.answer`);
  const bytes = segments.flatMap((segment) => {
    const header = Buffer.alloc(8);
    header.writeUInt32LE(segment.bytes.length, 0);
    header.writeUInt32LE(segment.stampOffset ?? NO_STAMP, 4);
    return [header, segment.bytes];
  });
  writeFileSync(file, Buffer.concat(bytes));
  return { file, bodyBytes };
}

function sumLengths(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, buffer) => sum + buffer.length, 0);
}

/** Writes all answer files into `directory`; the values are in the order that `mock.c` takes them. */
export async function writeAnswers(directory: string): Promise<Readonly<Record<AnswerName, PreparedAnswer>>> {
  const json = jsonBody();
  const jsonSegment = {
    bytes: Buffer.concat([head('Content-Type: application/json', `Content-Length: ${json.length}`), json]),
    stampOffset: null,
  };
  const stream = (name: AnswerName, bodies: readonly Buffer[], ...encoding: readonly string[]) => {
    const headBytes = head('Content-Type: text/event-stream; charset=utf-8', 'Transfer-Encoding: chunked', ...encoding);
    return writeAnswer(directory, name, streamSegments(headBytes, bodies), sumLengths(bodies));
  };
  const plain = eventTexts(false);
  const withUsage = eventTexts(true);
  return {
    json: writeAnswer(directory, 'json', [jsonSegment], json.length),
    sse: stream(
      'sse',
      plain.map((text) => Buffer.from(text)),
    ),
    'sse-usage': stream(
      'sse-usage',
      withUsage.map((text) => Buffer.from(text)),
    ),
    'sse-gzip': stream('sse-gzip', await gzipEvents(plain), 'Content-Encoding: gzip'),
    'sse-usage-gzip': stream('sse-usage-gzip', await gzipEvents(withUsage), 'Content-Encoding: gzip'),
  };
}
