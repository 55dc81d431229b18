/** What comes from providers beside its framing: HTTP answers from bytes, encoded bodies, edits of streams and requests. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { askForUsage } from '../../../src/formats/usage/ask-usage.ts';
import { createUsageHider } from '../../../src/formats/usage/hide-usage.ts';
import { createContentDecoder, type DecodeEnd } from '../../../src/formats/wire/content-encoding.ts';
import { ResponseSyntaxError } from '../../../src/proxy/upstream/response-head.ts';
import { ResponseParser } from '../../../src/proxy/upstream/response-parser.ts';
import { type AnswerStep, buildAnswer } from '../../support/scripted-answer.ts';
import { type Cuts, cutInto, cuts, mutated } from '../bytes.ts';
import { RESPONSE_CASES } from '../cases/response-cases.ts';
import { createTarget, type FuzzTarget, must, mustEqual } from '../check.ts';
import { readSseByRule } from './read-sse-by-rule.ts';

const TEXT = `data: {"n":1,"text":"${'word '.repeat(60)}"}\n\ndata: [DONE]\n\n`;

function written(steps: readonly AnswerStep[]): Buffer {
  return Buffer.concat(
    steps.flatMap((step) =>
      'write' in step ? [typeof step.write === 'string' ? Buffer.from(step.write, 'latin1') : step.write] : [],
    ),
  );
}

/** Larger ones are the same again, and take the time of many small ones. */
const LARGEST_SEED_BYTES = 6_000;

const HEADERS = [
  ['Content-Type', 'application/json'],
  ['x-Odd', 'caf\xe9'],
  ['Keep-Alive', 'timeout=5'],
] as const;
const ANSWERS = [
  written(buildAnswer({ headers: HEADERS, body: '{"a":1}' })),
  written(buildAnswer({ headers: HEADERS, framing: 'chunked', body: TEXT, cuts: [3, 40, 41] })),
  written(
    buildAnswer({ framing: 'chunked', body: TEXT, cuts: [9], chunkExtension: ';a="b"', trailers: [['X-T', '1']] }),
  ),
  written(buildAnswer({ framing: 'close', body: TEXT })),
  written(buildAnswer({ status: 204, framing: 'none' })),
  written(buildAnswer({ body: TEXT, informational: ['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'] })),
  Buffer.from('HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n{}'),
  ...RESPONSE_CASES.map(({ steps }) => written(steps)).filter((bytes) => bytes.length <= LARGEST_SEED_BYTES),
];
const ANSWER_TOKENS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  ';',
  '0\r\n\r\n',
  'ffffffffffffff\r\n',
  '+5\r\n',
  '0x5\r\n',
  '5\r\nhello\r\n',
  'Content-Length: 5\r\n',
  'content-length: 6, 6\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding : gzip\r\n',
  'HTTP/1.1 200 OK\r\n',
  'HTTP/1.1 100 \r\n\r\n',
  'HTTP/1.1 101 x\r\n\r\n',
  ' folded\r\n',
  `X: ${'y'.repeat(9_000)}\r\n`,
];

function parse(pieces: readonly Buffer[], isHead: boolean) {
  const parser = new ResponseParser();
  const heads: unknown[] = [];
  const body: Buffer[] = [];
  const trailers: unknown[] = [];
  parser.start(isHead, {
    onHead: (...head) => heads.push(head),
    onData: (chunk) => {
      must(chunk.length > 0, 'data is some');
      body.push(Buffer.from(chunk));
    },
    onTrailers: (raw) => {
      must(heads.length === 1 && raw.length > 0 && raw.length % 2 === 0, 'trailers stand behind a head, in pairs');
      trailers.push(raw);
    },
  });
  let taken = 0;
  let hasFailed = false;
  try {
    for (const piece of pieces) {
      const at = parser.push(piece);
      must(at >= 0 && at <= piece.length, 'it stops within what it was given');
      taken += at;
      if (parser.isDone) break;
      must(at === piece.length, 'all is taken until the answer is over');
    }
  } catch (error) {
    if (!(error instanceof ResponseSyntaxError)) throw error;
    hasFailed = true;
  }
  const isWhole = !hasFailed && parser.finish();
  const text = Buffer.concat(body).toString('latin1');
  must(heads.length <= 1, 'one head');
  must(trailers.length === 0 || isWhole, 'trailers are the end');
  return {
    heads,
    text,
    trailers,
    hasFailed,
    isWhole,
    taken: isWhole ? taken : null,
    kept: isWhole && parser.isKeptAlive,
  };
}

function checkAnswer([bytes, where, isHead]: readonly [Buffer, Cuts, boolean]): void {
  mustEqual(parse(cutInto(bytes, where), isHead), parse([bytes], isHead), 'the same answer, cut differently');
}

const SOURCE = Buffer.from(TEXT);
const ENCODED = {
  gzip: [gzipSync(SOURCE)],
  deflate: [deflateSync(SOURCE), deflateRawSync(SOURCE)],
  br: [brotliCompressSync(SOURCE)],
  zstd: [zstdCompressSync(SOURCE)],
  'gzip, br': [brotliCompressSync(gzipSync(SOURCE))],
};
const encoded = fc.oneof(
  ...Object.entries(ENCODED).map(([encoding, seeds]) =>
    fc.record({ encoding: fc.constant(encoding), bytes: mutated(seeds, [gzipSync(''), Buffer.alloc(8), '\xff']) }),
  ),
);

function decode(
  encoding: string,
  pieces: readonly Buffer[],
): Promise<{ readonly text: string; readonly end: DecodeEnd }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let ends = 0;
    const decoder = createContentDecoder(
      encoding,
      (chunk) => {
        if (ends > 0) reject(new Error('data came behind the end'));
        chunks.push(chunk);
      },
      (end) => {
        ends += 1;
        if (ends > 1) reject(new Error('the end came twice'));
        // A second one would come within a turn or two.
        setImmediate(() => resolve({ text: Buffer.concat(chunks).toString('latin1'), end }));
      },
    );
    if (decoder === null) throw new Error('no decoder');
    for (const piece of pieces) decoder.push(piece);
    decoder.end();
  });
}

async function checkEncoded([{ encoding, bytes }, where]: readonly [{ encoding: string; bytes: Buffer }, Cuts]) {
  const whole = await decode(encoding, [bytes]);
  const cut = await decode(encoding, cutInto(bytes, where));
  must(cut.end === whole.end, 'the end does not depend on the cuts');
  // Before an error more or less may have come out.
  if (whole.end === 'decoded') must(cut.text === whole.text, 'nor does what was decoded');
}

const scalar = fc.oneof(fc.boolean(), fc.constant(null), fc.integer(), fc.string({ unit: 'binary', maxLength: 8 }));
const json = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.string({ maxLength: 4 }), scalar, { maxKeys: 3 }),
);
const chatBody = fc.record(
  {
    model: fc.constantFrom('gpt-x', 'é"\\'),
    messages: fc.array(json, { maxLength: 2 }),
    stream: fc.oneof({ arbitrary: fc.constant(true), weight: 4 }, json),
    stream_options: fc.oneof(
      fc.constantFrom({}, null, { include_usage: true }, { include_usage: false }, { other: [1] }),
      json,
    ),
    user: json,
  },
  { requiredKeys: ['model', 'stream'] },
);
const BODY_TOKENS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '\\',
  ' ',
  '"stream":true,',
  '"stream_options":{},',
  '\xff',
  '\u0000',
];

function checkAsking([value, indent, isMutated, bytes]: readonly [object, number, boolean, Buffer]): void {
  const body = isMutated ? bytes : Buffer.from(JSON.stringify(value, null, indent));
  const { body: sent, asked } = askForUsage(body);
  if (!asked) {
    must(sent.equals(body), 'who is not asked is not changed');
    return;
  }
  const before = tryParse(body);
  const after = tryParse(sent);
  // What is no JSON for us may be some for the provider; then the edit only has to be one insertion.
  if (before === undefined) return;
  must(after !== undefined, 'JSON stays JSON');
  const { stream_options: options, ...rest } = Object(after);
  const { stream_options: optionsBefore, ...restBefore } = Object(before);
  mustEqual(sorted(rest), sorted(restBefore), 'all but stream_options');
  mustEqual(sorted(options), sorted({ ...Object(optionsBefore ?? {}), include_usage: true }), 'stream_options');
}

function tryParse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** With the members in one order, so that two objects that mean the same are the same text. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

const usage = fc.constantFrom({ usage: null }, { usage: { prompt_tokens: 1 } }, {}, { usage: 'x' }, { usage: 7 });
const choices = fc.constantFrom(
  { choices: [{ delta: { content: '"usage"' } }] },
  { choices: [] },
  {},
  { error: { message: 'x' } },
);
const event = fc.tuple(usage, choices, fc.boolean(), json).map(([first, second, isTurned, extra]) => {
  const parts = isTurned ? { extra, ...first, ...second } : { ...second, ...first, extra };
  return `data: ${JSON.stringify(parts)}`;
});
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const chatStream = fc
  .tuple(
    fc.array(fc.oneof(event, fc.constantFrom('data: [DONE]', ': ping', 'event: x\ndata: {}')), { maxLength: 6 }),
    lineEnd,
  )
  .map(([events, end]) => Buffer.from(events.map((text) => text + end + end).join('')));

function hide(pieces: readonly Buffer[]): Buffer {
  const hider = createUsageHider();
  const out = pieces.map((piece) => hider.push(piece));
  return Buffer.concat([...out, hider.finish()].filter((piece) => piece !== null));
}

function checkHiding([bytes, where]: readonly [Buffer, Cuts]): void {
  const shown = hide([bytes]);
  must(hide(cutInto(bytes, where)).equals(shown), 'what is hidden does not depend on the cuts');
  must(shown.length <= bytes.length, 'nothing is added');
  must(hide([shown]).equals(shown), 'what is hidden is hidden');
  const expected = readSseByRule(bytes).flatMap((found) => withoutUsage(toMeaning(found)));
  mustEqual(readSseByRule(shown).map(toMeaning), expected, 'the events that are left');
}

interface Meaning {
  readonly type: string | null;
  readonly value: unknown;
}

/** JSON as what it says, anything else as it is. */
function toMeaning([type, data]: readonly [string | null, string]): Meaning {
  return { type, value: tryParse(Buffer.from(data, 'latin1')) ?? data };
}

function withoutUsage(found: Meaning): readonly Meaning[] {
  const { type, value } = found;
  if (typeof value !== 'object' || value === null || !('usage' in value)) return [found];
  const { usage: said, ...rest }: { usage: unknown; choices?: unknown; error?: unknown } = value;
  if (typeof said !== 'object') return [found];
  const isExtra = 'choices' in rest ? Array.isArray(rest.choices) && rest.choices.length === 0 : !('error' in rest);
  return said !== null && isExtra ? [] : [{ type, value: rest }];
}

function checkMutatedHiding([bytes, where]: readonly [Buffer, Cuts]): void {
  const shown = hide([bytes]);
  must(hide(cutInto(bytes, where)).equals(shown), 'what is hidden does not depend on the cuts');
  must(shown.length <= bytes.length, 'nothing is added');
}

const STREAM_SEEDS = [
  Buffer.from(
    'data: {"choices":[{"delta":{"content":"a"}}],"usage":null}\n\ndata: {"choices":[],"usage":{"a":1}}\n\ndata: [DONE]\n\n',
  ),
  Buffer.from('data: {"usage":null,"choices":[]}\r\n\r\ndata: {"usage":{},\r\ndata: "choices":[]}\r\n\r\n: x\r\n\r\n'),
];
const BODY_SEEDS = [
  Buffer.from('{"model":"m","stream":true,"messages":[{"role":"user","content":"\\"stream_options\\""}]}'),
  Buffer.from('{ "stream" : true , "stream_options" : { } }'),
  Buffer.from('{"stream":true,"stream_options":{"a":{"include_usage":1}}}'),
];

export const ANSWER_TARGETS: readonly FuzzTarget[] = [
  createTarget('answers: HTTP/1.1', 0.5, fc.tuple(mutated(ANSWERS, ANSWER_TOKENS), cuts, fc.boolean()), checkAnswer),
  createTarget('answers: encodings', 0.2, fc.tuple(encoded, cuts), checkEncoded),
  createTarget(
    'usage: asking',
    0.5,
    fc.tuple(chatBody, fc.nat(2), fc.boolean(), mutated(BODY_SEEDS, BODY_TOKENS)),
    checkAsking,
  ),
  createTarget('usage: hiding', 0.5, fc.tuple(chatStream, cuts), checkHiding),
  createTarget(
    'usage: hiding in broken streams',
    0.2,
    fc.tuple(mutated(STREAM_SEEDS, ['"usage"', '\n', '\r', '{', '}', '"', 'data:']), cuts),
    checkMutatedHiding,
  ),
];
