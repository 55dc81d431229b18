/** The calls that are measured: what the client sends, what the provider answers, and what the client must see. */
import { crc32, gzipSync } from 'node:zlib';
import { brotliBomb, filled, framePrelude, gzipBomb, MIB, numbered, type Pieces, whole, zstdBomb } from './bodies.ts';

export type Framing = 'length' | 'chunked';

export interface Message {
  readonly headers: readonly (readonly [string, string])[];
  readonly pieces: Pieces;
  readonly framing: Framing;
}

export interface Scenario {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly request: Message | null;
  readonly answer: Message;
  readonly status: number;
  /** HTTP/2 by prior knowledge. */
  readonly isHttp2?: true;
  /** The client waits so long before it reads, and then takes at most so many bytes a second. */
  readonly slowly?: { readonly waitMs: number; readonly bytesPerSecond: number };
}

const CHAT = '/v1/chat/completions';
const SMALL: Message = {
  headers: [['content-type', 'application/json']],
  pieces: whole(Buffer.from('{"object":"chat.completion","usage":{"prompt_tokens":1,"completion_tokens":1}}')),
  framing: 'length',
};
const ASK = whole(Buffer.from('{"model":"gpt-x","stream":false}'));

function upload(name: string, path: string, contentType: string, pieces: Pieces, framing: Framing): Scenario {
  const request: Message = { headers: [['content-type', contentType]], pieces, framing };
  return { name, method: 'POST', path, request, answer: SMALL, status: 200 };
}

function download(
  name: string,
  path: string,
  headers: readonly (readonly [string, string])[],
  pieces: Pieces,
  framing: Framing = 'chunked',
): Scenario {
  const request: Message = { headers: [['content-type', 'application/json']], pieces: ASK, framing: 'length' };
  return { name, method: 'POST', path, request, answer: { headers, pieces, framing }, status: 200 };
}

function longHeader(name: string, bytes: number, status: number): Scenario {
  const headers: readonly (readonly [string, string])[] = [['x-long', 'x'.repeat(bytes)]];
  return {
    name,
    method: 'GET',
    path: '/v1/models',
    request: { headers, pieces: () => [], framing: 'length' },
    answer: SMALL,
    status,
  };
}

const JSON_TYPE = ['content-type', 'application/json'] as const;
const SSE_TYPE = ['content-type', 'text/event-stream'] as const;
const FRAMES_TYPE = ['content-type', 'application/vnd.amazon.eventstream'] as const;
const LINES_TYPE = ['content-type', 'application/x-jsonl'] as const;

const GEMINI = '/v1beta/models/gemini-x:streamGenerateContent';
const BEDROCK = '/model/anthropic.claude-x/converse-stream';

/** Bodies of so many bytes each; smaller for a look at whether it works. */
export function listScenarios(bytes: number): Scenario[] {
  const json = numbered('{"model":"gpt-x","stream":false,"messages":[', message, bytes, '{}]}');
  const form = filled(
    '--b0\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n',
    '\r\n--b0x RIFF',
    Math.ceil(bytes * 1.17),
    '\r\n--b0\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n--b0--\r\n',
  );
  const answer = numbered('{"id":"x","choices":[', message, bytes, '{}],"usage":{"prompt_tokens":1}}');
  const usage = 'data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\ndata: [DONE]\n\n';
  const events = numbered('', (index) => `data: {"choices":[{"delta":{"content":"word ${index}"}}]}\n\n`, bytes, usage);
  const endless = filled('data: ', 'x ', bytes, '');
  const elements = numbered(
    '[',
    (index) => `{"candidates":[{"content":{"parts":[{"text":"${index}"}]}}]},`,
    bytes,
    '{}]',
  );
  const element = filled('[{"a":"', 'x ', bytes, '"}]');
  const frame = filled(framePrelude(bytes, crc32), '\0', bytes, '');
  const gzip = gzipBomb(bytes);
  return [
    upload('request: JSON, of declared length', CHAT, 'application/json', json, 'length'),
    upload('request: JSON, in chunks', CHAT, 'application/json', json, 'chunked'),
    upload('request: form, of declared length', '/v1/audio/transcriptions', FORM_TYPE, form, 'length'),
    upload('request: form, in chunks', '/v1/audio/transcriptions', FORM_TYPE, form, 'chunked'),
    {
      ...upload('request: gzip bomb', CHAT, 'application/json', whole(gzip), 'length'),
      request: { headers: [JSON_TYPE, ['content-encoding', 'gzip']], pieces: whole(gzip), framing: 'length' },
    },
    download('answer: JSON, of declared length', CHAT, [JSON_TYPE], answer, 'length'),
    download('answer: JSON, in chunks', CHAT, [JSON_TYPE], answer),
    download('answer: of no known type', CHAT, [['content-type', 'audio/wav']], answer),
    download('answer: SSE of many events', CHAT, [SSE_TYPE], events),
    download('answer: one endless SSE event', CHAT, [SSE_TYPE], endless),
    download('answer: SSE of blank lines', CHAT, [SSE_TYPE], filled('', '\r\n', bytes, usage)),
    download('answer: JSON array', GEMINI, [JSON_TYPE], elements),
    download('answer: JSON array of one element', GEMINI, [JSON_TYPE], element),
    download('answer: one endless JSON line', CHAT, [LINES_TYPE], filled('{"a":"', 'x ', bytes, '')),
    download('answer: AWS frame that claims all of it', BEDROCK, [FRAMES_TYPE], frame),
    download('answer: gzip bomb', CHAT, [JSON_TYPE, ['content-encoding', 'gzip']], whole(gzip)),
    download('answer: gzip bomb as SSE', CHAT, [SSE_TYPE, ['content-encoding', 'gzip']], whole(gzip)),
    download('answer: zstd bomb', CHAT, [JSON_TYPE, ['content-encoding', 'zstd']], whole(zstdBomb(bytes))),
    download('answer: br bomb', CHAT, [JSON_TYPE, ['content-encoding', 'br']], whole(brotliBomb(bytes))),
    download('answer: gzip in gzip', CHAT, [JSON_TYPE, ['content-encoding', 'gzip, gzip']], whole(gzipSync(gzip))),
    download('answer: not gzip at all', CHAT, [JSON_TYPE, ['content-encoding', 'gzip']], answer),
    {
      ...download('answer: to a slow reader', CHAT, [SSE_TYPE], events),
      slowly: { waitMs: 2_000, bytesPerSecond: bytes / 4 },
    },
    { ...upload('request: JSON, over HTTP/2', CHAT, 'application/json', json, 'length'), isHttp2: true },
    { ...download('answer: SSE of many events, over HTTP/2', CHAT, [SSE_TYPE], events), isHttp2: true },
    {
      ...download('answer: to a slow reader, over HTTP/2', CHAT, [SSE_TYPE], events),
      slowly: { waitMs: 2_000, bytesPerSecond: bytes / 4 },
      isHttp2: true,
    },
    longHeader('request: a header of 63 KiB', 63 * 1024, 200),
    longHeader('request: a header of 65 KiB', 65 * 1024, 431),
  ];
}

const FORM_TYPE = 'multipart/form-data; boundary=b0';

function message(index: number): string {
  return `{"role":"user","content":"message ${index}, \\"quoted\\" and [bracketed]","n":${index}},`;
}

export const DEFAULT_BYTES = 256 * MIB;
