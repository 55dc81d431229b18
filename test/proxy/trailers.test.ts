import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type RawAnswer, readRawAnswer } from '../support/read-raw-answer.ts';
import type { AnswerStep } from '../support/scripted-answer.ts';
import { END_HEADERS, END_STREAM, exchangeBytes, PREFACE, requestFrame, SETTINGS_FRAME } from './http2-frames.ts';
import { openProxy } from './open-proxy.ts';
import { type Http2Call, readHttp2Answer } from './read-http2-answer.ts';

const { provider, proxy } = await openProxy();

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n';
const BODY = '4\r\nabcd\r\n';

/** An answer of `abcd` with these lines behind it. */
function answerWith(trailerLines: readonly string[], headerLines: readonly string[] = []): AnswerStep[] {
  const lines = (all: readonly string[]): string => all.map((line) => `${line}\r\n`).join('');
  return [{ write: `${CHUNKED}${lines(headerLines)}\r\n${BODY}0\r\n${lines(trailerLines)}\r\n` }];
}

function ask(headerLines: readonly string[], line = 'GET /v1/models HTTP/1.1', body = ''): Promise<RawAnswer> {
  const head = [line, 'Host: a', `X-Gateway-Key: ${proxy.key}`, ...headerLines, '', ''].join('\r\n');
  return readRawAnswer('127.0.0.1', proxy.port, `${head}${body}`);
}

function providerSaw(name: string): string | null | undefined {
  return provider.requests.at(-1)?.header(name);
}

/** What RFC 9110 6.5.1 rules out, what belongs to the hop, and what is the gateway's. */
const FORBIDDEN = [
  'Content-Length: 9',
  'Transfer-Encoding: gzip',
  'Trailer: X-A',
  'Connection: close',
  'Keep-Alive: timeout=1',
  'TE: trailers',
  'Upgrade: h2c',
  'Proxy-Connection: close',
  'Proxy-Authenticate: Basic',
  'Host: evil',
  'Authorization: Bearer x',
  'WWW-Authenticate: Basic',
  'Set-Cookie: a=b',
  'set-cookie2: a=b',
  'Cookie: a=b',
  'Content-Type: text/html',
  'Content-Encoding: gzip',
  'Content-Range: bytes 0-1/2',
  'Content-Security-Policy: x',
  'Cache-Control: no-store',
  'Age: 1',
  'Expires: 0',
  'Date: x',
  'Location: /evil',
  'Retry-After: 9',
  'Vary: *',
  'Warning: 1',
  'If-Match: *',
  'Range: bytes=0-',
  'Expect: 100-continue',
  'Max-Forwards: 1',
  'Pragma: x',
  'X-Gateway-Request-Id: evil',
  'x-gateway-key: evil',
  'X-Hop: 1',
];

describe('over HTTP/1.1', () => {
  test('trailers stand behind the last chunk as the provider wrote them, and are neither headers nor recorded', async () => {
    const lines = [
      'x-Sum: one',
      'X-sum:two',
      'X-Empty:',
      'Server-Timing: caf\u00e9;dur=1',
      'ETag: "a"',
      'X-Sum:  three ',
    ];
    provider.setAnswer(() => answerWith(lines, ['Trailer: x-Sum, ETag', 'X-A: 1']));
    const answer = await ask(['TE: trailers', 'Connection: TE']);
    expect(answer.end).toBe('complete');
    expect(answer.framedBody.toString('latin1')).toBe(
      `${BODY}0\r\nx-Sum: one\r\nX-sum: two\r\nX-Empty: \r\nServer-Timing: caf\u00e9;dur=1\r\nETag: "a"\r\nX-Sum: three\r\n\r\n`,
    );
    expect(answer.rawHeaders.slice(0, 4)).toEqual(['Trailer', 'x-Sum, ETag', 'X-A', '1']);
    expect(answer.rawHeaders.filter((_, index) => index % 2 === 0)).not.toContain('ETag');
    expect([providerSaw('te'), providerSaw('connection')]).toEqual(['trailers', 'keep-alive, TE']);
    const { end } = await proxy.lastCall();
    expect(end).toMatchObject({ outcome: 'ok', responseBytes: 4 });
    expect(JSON.stringify(end)).not.toMatch(/three|Timing/);
  });

  test.each([
    [['TE: TRAILERS']],
    [['te: gzip;q=0.5 , trailers']],
    [['TE: deflate', 'TE: trailers']],
    [['TE: ,trailers,']],
  ])('the client asks with %j', async (headerLines) => {
    provider.setAnswer(() => answerWith(['X-Sum: 1']));
    expect((await ask(headerLines)).trailers).toEqual(['X-Sum', '1']);
    expect(providerSaw('te')).toBe('trailers');
  });

  test.each([
    [[]],
    [['TE: gzip']],
    [['TE:']],
    [['TE: trailersx']],
    [['TE: trailers;q=0']],
    [['X-TE: trailers']],
    [['Connection: TE']],
    [['Trailer: X-Sum']],
  ])(
    'a client that sends %j has not asked: they are dropped, and the provider is not asked for them',
    async (headerLines) => {
      provider.setAnswer(() => answerWith(['X-Sum: 1'], ['Trailer: X-Sum']));
      const answer = await ask(headerLines);
      expect([answer.end, answer.framedBody.toString('latin1')]).toEqual(['complete', `${BODY}0\r\n\r\n`]);
      expect(answer.head.toString('latin1')).not.toMatch(/^trailer:/im);
      expect([providerSaw('te'), providerSaw('connection')]).toEqual([null, 'keep-alive']);
    },
  );

  test('HTTP/1.0 has no place for them, whatever it asks for', async () => {
    provider.setAnswer(() => answerWith(['X-Sum: POISON'], ['Trailer: X-Sum']));
    const answer = await ask(['TE: chunked, trailers'], 'GET /v1/models HTTP/1.0');
    expect(answer.body.toString()).toBe('abcd');
    expect(`${answer.head.toString('latin1')}${answer.framedBody.toString('latin1')}`).not.toMatch(/POISON|Trailer/);
  });

  test('what may not be a trailer is dropped; digests, signatures and the rest pass', async () => {
    const good = ['Content-Digest: sha-256=:x:', 'Signature: s', 'X-Amz-Checksum-Crc32: y', '__proto__: z'];
    provider.setAnswer(() => answerWith([...FORBIDDEN, ...good], ['Connection: X-Hop, keep-alive']));
    const answer = await ask(['TE: trailers']);
    expect(answer.framedBody.toString('latin1')).toBe(`${BODY}0\r\n${good.join('\r\n')}\r\n\r\n`);
  });

  test.each([
    ['a bare LF', 'X-A: b\nX-B: c\r\n\r\n'],
    ['a bare CR', 'X-A: b\rX-B: c\r\n\r\n'],
    ['NUL', 'X-A: \0\r\n\r\n'],
    ['no colon', 'X-A\r\n\r\n'],
    ['a space before the colon', 'X-A : b\r\n\r\n'],
    ['a folded line', 'X-A: b\r\n c\r\n\r\n'],
    ['another answer', 'HTTP/1.1 200 OK\r\nX-A: b\r\n\r\n'],
    ['more than 128 KiB', `X-A: ${'x'.repeat(140_000)}\r\n\r\n`],
    ['an end before the empty line', 'X-A: b\r\n'],
    ['an end within a line', 'X-A: b'],
  ])('trailers with %s make the answer a cut one, asked for or not', async (_, wire) => {
    provider.setAnswer(() => [{ write: `${CHUNKED}\r\n${BODY}0\r\n${wire}` }, { end: true }]);
    for (const headerLines of [['TE: trailers'], []]) {
      const answer = await ask(headerLines);
      expect(answer.end).not.toBe('complete');
      expect(BODY.startsWith(answer.framedBody.toString('latin1'))).toBe(true);
    }
    expect((await proxy.lastCall()).end.outcome).toBe('upstream_truncated');
  });

  test('an answer of declared length, one to HEAD, and one without a body have none; Trailer announces nothing there', async () => {
    const texts = [];
    provider.setAnswer(() => [{ write: 'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 4\r\n\r\nabcd' }]);
    texts.push(await ask(['TE: trailers']));
    provider.setAnswer(() => [{ write: `${CHUNKED}Trailer: X-Sum\r\n\r\n` }, { end: true }]);
    texts.push(await ask(['TE: trailers'], 'HEAD /v1/models HTTP/1.1'));
    for (const status of ['204 No Content', '304 Not Modified']) {
      provider.setAnswer(() => [{ write: `HTTP/1.1 ${status}\r\nTrailer: X-Sum\r\n\r\n` }, { end: true }]);
      texts.push(await ask(['TE: trailers']));
    }
    for (const { end, head } of texts) {
      expect(end).toBe('complete');
      expect(head.toString('latin1')).not.toMatch(/^trailer:/im);
    }
    provider.setAnswer(() => [
      { write: 'HTTP/1.1 205 X\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n0\r\nX-Sum: 1\r\n\r\n' },
    ]);
    expect(await ask(['TE: trailers'])).toMatchObject({ status: 205, end: 'complete' });
  });

  test('they are of one answer only: the next one on the same connections has none', async () => {
    const texts: string[] = [];
    const socket = connect(proxy.port, '127.0.0.1').setEncoding('latin1');
    for (const [trailerLines, headerLines] of [
      [['X-Sum: 1'], ['TE: trailers']],
      [[], ['TE: trailers']],
      [['X-Sum: 3'], []],
      [['X-Sum: 4'], ['TE: trailers']],
    ]) {
      provider.setAnswer(() => answerWith(trailerLines ?? []));
      const lines = ['GET /v1/models HTTP/1.1', 'Host: a', `X-Gateway-Key: ${proxy.key}`, ...(headerLines ?? [])];
      socket.write([...lines, '', ''].join('\r\n'));
      let text = '';
      for await (const part of socket.iterator({ destroyOnReturn: false })) {
        text += part;
        if (/\r\n0\r\n(?:.+\r\n)*\r\n$/.test(text)) break;
      }
      texts.push(text.slice(text.indexOf('\r\n\r\n') + 4));
    }
    socket.destroy();
    expect(texts).toEqual([
      `${BODY}0\r\nX-Sum: 1\r\n\r\n`,
      `${BODY}0\r\n\r\n`,
      `${BODY}0\r\n\r\n`,
      `${BODY}0\r\nX-Sum: 4\r\n\r\n`,
    ]);
  });

  test('a refused handshake of a websocket is an answer like any other', async () => {
    provider.setAnswer(() => answerWith(['X-Sum: 1', 'Set-Cookie: a=b']));
    const upgrade = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    const line = 'GET /v1/realtime?model=m HTTP/1.1';
    const asked = await ask([...upgrade, 'Connection: Upgrade, TE', 'TE: trailers'], line);
    expect(asked.framedBody.toString('latin1')).toBe(`${BODY}0\r\nX-Sum: 1\r\n\r\n`);
    const unasked = await ask([...upgrade, 'Connection: Upgrade'], line);
    expect(unasked.framedBody.toString('latin1')).toBe(`${BODY}0\r\n\r\n`);
  });

  test('of a stream that was edited a digest is not passed on: it is not of these bytes', async () => {
    const events =
      'data: {"choices":[{"delta":{"content":"a"}}],"usage":null}\n\ndata: {"choices":[],"usage":{"prompt_tokens":1}}\n\n';
    const steps: AnswerStep[] = [
      { write: `${CHUNKED}Content-Type: text/event-stream\r\n\r\n${events.length.toString(16)}\r\n${events}\r\n` },
      { write: '0\r\nContent-Digest: x\r\nRepr-Digest: x\r\nDigest: x\r\nX-Sum: 1\r\n\r\n' },
    ];
    provider.setAnswer(() => steps);
    const body = '{"model":"m","stream":true}';
    const headers = ['TE: trailers', `Content-Length: ${body.length}`];
    const answer = await ask(headers, 'POST /v1/chat/completions HTTP/1.1', body);
    expect(answer.body.toString()).toBe('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
    expect(answer.trailers).toEqual(['X-Sum', '1']);
  });
});

describe('over HTTP/2', () => {
  let session: ClientHttp2Session;
  beforeEach(() => {
    session = connectHttp2(proxy.base);
    session.on('error', () => {}); // its streams tell
  });
  afterEach(() => session.destroy());

  function call(headers: readonly string[], given: Partial<Http2Call> = {}) {
    return readHttp2Answer(session, {
      path: '/v1/models',
      ...given,
      headers: ['x-gateway-key', proxy.key, ...headers],
    });
  }

  /** Of stream 1: each frame's type, with a mark where it ends the stream. */
  async function framesOf(
    headers: readonly (readonly [string, string])[],
    last: 'HEADERS' | 'DATA',
  ): Promise<string[]> {
    const flags = last === 'HEADERS' ? END_HEADERS | END_STREAM : END_STREAM;
    const request = requestFrame(1, [
      [':method', 'GET'] as const,
      [':scheme', 'http'] as const,
      [':authority', 'a'] as const,
      [':path', '/v1/models'] as const,
      ['x-gateway-key', proxy.key] as const,
      ...headers,
    ]);
    const until = Buffer.from([last === 'HEADERS' ? 1 : 0, flags, 0, 0, 0, 1]);
    const received = await exchangeBytes(proxy.port, [Buffer.concat([PREFACE, SETTINGS_FRAME, request])], until);
    const frames: string[] = [];
    for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3)) {
      const type = received.readUInt8(at + 3);
      const isEnd = type < 2 && (received.readUInt8(at + 4) & END_STREAM) !== 0;
      const name = ['DATA', 'HEADERS', 'PRIORITY', 'RST_STREAM'][type] ?? String(type);
      if (received.readUInt32BE(at + 5) === 1) frames.push(isEnd ? `${name} end` : name);
    }
    return frames;
  }

  test('they are a last frame of headers, which ends the stream', async () => {
    provider.setAnswer(() => answerWith(['x-Sum: one', 'ETag: "a"', 'X-sum: two']));
    expect(await framesOf([['te', 'trailers']], 'HEADERS')).toEqual(['HEADERS', 'DATA', 'HEADERS end']);
    expect([providerSaw('te'), providerSaw('connection')]).toEqual(['trailers', 'keep-alive, TE']);
    provider.setAnswer(() => answerWith(['X-Sum: one']));
    expect(await framesOf([], 'DATA')).toEqual(['HEADERS', 'DATA', 'DATA end']);
    expect(providerSaw('te')).toBeNull();
    provider.setAnswer(() => answerWith([]));
    expect(await framesOf([['te', 'trailers']], 'DATA')).toEqual(['HEADERS', 'DATA', 'DATA end']);
  });

  test('in lower case, with duplicates, without what may not be a trailer', async () => {
    const good = [
      'x-Sum: one',
      'X-Latin: caf\u00e9',
      'Content-Digest: d',
      '__proto__: p',
      'ETag: "a"',
      'etag: "b"',
      'X-sum: two',
    ];
    provider.setAnswer(() => answerWith([...FORBIDDEN, ...good], ['Trailer: X-Sum', 'Connection: X-Hop']));
    const answer = await call(['te', 'trailers']);
    expect([answer.end, answer.body.toString()]).toEqual(['complete', 'abcd']);
    expect(answer.rawHeaders.slice(0, 2)).toEqual(['trailer', 'X-Sum']);
    expect(answer.rawTrailers).toEqual([
      'x-sum',
      'one',
      'x-sum',
      'two',
      'x-latin',
      'caf\u00e9',
      'content-digest',
      'd',
      '__proto__',
      'p',
      'etag',
      '"a"',
      'etag',
      '"b"',
    ]);
    const unasked = await call([]);
    expect(unasked).toMatchObject({ end: 'complete', rawTrailers: [] });
    expect(unasked.rawHeaders).not.toContain('trailer');
  });

  test('behind an empty body, one of 3 MB, and none behind one of declared length', async () => {
    provider.setAnswer(() => [{ write: `${CHUNKED}\r\n0\r\nX-Sum: 1\r\n\r\n` }]);
    expect(await call(['te', 'trailers'])).toMatchObject({ end: 'complete', rawTrailers: ['x-sum', '1'] });
    const large = Buffer.alloc(3_000_000, 'abc');
    provider.setAnswer(() => [
      { write: `${CHUNKED}\r\n${large.length.toString(16)}\r\n` },
      { write: large },
      { write: '\r\n0\r\nX-Sum: 2\r\n\r\n' },
    ]);
    const answer = await call(['te', 'trailers']);
    expect(answer).toMatchObject({ end: 'complete', rawTrailers: ['x-sum', '2'] });
    expect(answer.body.equals(large)).toBe(true);
    provider.setAnswer(() => [{ write: 'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 4\r\n\r\nabcd' }]);
    expect(await call(['te', 'trailers'])).toMatchObject({ end: 'complete', rawTrailers: [] });
    expect(await framesOf([['te', 'trailers']], 'DATA')).toEqual(['HEADERS', 'DATA end']);
  });

  test('a cut answer, and one with malformed trailers, is a reset without any', async () => {
    for (const wire of ['X-Sum: 1\r\n', 'X-Sum: 1\nX: 2\r\n\r\n']) {
      provider.setAnswer(() => [{ write: `${CHUNKED}\r\n${BODY}0\r\n${wire}` }, { end: true }]);
      const answer = await call(['te', 'trailers']);
      expect(answer.end).not.toBe('complete');
      expect(answer.rawTrailers).toEqual([]);
    }
    provider.setAnswer(() => answerWith(['X-Sum: 1']));
    expect(await call(['te', 'trailers'])).toMatchObject({ end: 'complete', rawTrailers: ['x-sum', '1'] });
  });
});
