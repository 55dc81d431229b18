import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createUsageHider, MAX_HELD_BYTES } from './hide-usage.ts';

function hide(pieces: readonly Buffer[]): string {
  const hider = createUsageHider();
  const shown = [...pieces.map((piece) => hider.push(piece)), hider.finish()];
  return Buffer.concat(shown.filter((piece) => piece !== null)).toString('latin1');
}

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

const ASKED = [
  ': OPENROUTER PROCESSING\n\n',
  'data: {"id":"1","choices":[{"delta":{"role":"assistant","content":""}}],"usage":null,"obfuscation":"ab"}\n\n',
  'data: {"id":"1","choices":[{"delta":{"content":"你好 \\"usage\\":null,"}}],"usage":null}\n\n',
  'data: {"usage":null,"choices":[{"delta":{"usage":null,"content":"x"}}]}\n\n',
  'data: {"usage" : null , "choices":[]}\r\n\r\n',
  'data:{"choices":[{"finish_reason":"stop"}] , "usage" : null }\r\n\r\n',
  'event: x\nid: 3\ndata: {"usage":null}\n\n',
  'data: {"error":{"message":"m"},"usage":{"prompt_tokens":1}}\n\n',
  'data: {"choices":[{"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"x":{"y":"}"}}}\n\n',
  'data: {"id":"1","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}\n\n',
  'data: {"id":"1","choices":[ ] ,"usage":{"prompt_tokens":1}}\n\n',
  'data: {"usage":"text","choices":[]}\n\n',
  'data: {"usage":null,"broken\n\n',
  'data: {"a":1,"usage":null,"usage":null}\n\n',
  'data: [DONE]\n\n',
].join('');

const SHOWN = [
  ': OPENROUTER PROCESSING\n\n',
  'data: {"id":"1","choices":[{"delta":{"role":"assistant","content":""}}],"obfuscation":"ab"}\n\n',
  'data: {"id":"1","choices":[{"delta":{"content":"你好 \\"usage\\":null,"}}]}\n\n',
  'data: {"choices":[{"delta":{"usage":null,"content":"x"}}]}\n\n',
  'data: {"choices":[]}\r\n\r\n',
  'data:{"choices":[{"finish_reason":"stop"}]  }\r\n\r\n',
  'event: x\nid: 3\ndata: {}\n\n',
  'data: {"error":{"message":"m"}}\n\n',
  'data: {"choices":[{"finish_reason":"stop"}]}\n\n',
  'data: {"usage":"text","choices":[]}\n\n',
  'data: {"usage":null,"broken\n\n',
  'data: {"a":1,"usage":null,"usage":null}\n\n',
  'data: [DONE]\n\n',
].join('');

describe('the client sees the stream as if nobody had asked for usage', () => {
  test('at every cut and byte by byte', () => {
    const input = Buffer.from(ASKED);
    for (let at = 0; at <= input.length; at += 1) {
      expect(hide([input.subarray(0, at), input.subarray(at)])).toBe(latin1(SHOWN));
    }
    expect(hide(Array.from(input, (byte) => Buffer.from([byte])))).toBe(latin1(SHOWN));
  });

  test('behind a byte order mark and with CR line ends', () => {
    const input = Buffer.from(
      '\uFEFFdata: {"a":1,"usage":null}\r\rdata: {"choices":[],"usage":{}}\r\rdata: [DONE]\r\r',
    );
    for (let at = 0; at <= input.length; at += 1) {
      expect(hide([input.subarray(0, at), input.subarray(at)])).toBe(latin1('\uFEFFdata: {"a":1}\r\rdata: [DONE]\r\r'));
    }
  });

  test('when the extra chunk is the last event and lacks its blank line', () => {
    expect(hide([Buffer.from('data: {"a":1}\n\ndata: {"choices":[],"usage":{"prompt_tokens":1}}')])).toBe(
      'data: {"a":1}\n\n',
    );
  });

  test('when the extra chunk has several data lines', () => {
    expect(hide([Buffer.from('data: {"choices":[],\ndata: "usage":{"prompt_tokens":1}}\n\ndata: b\n\n')])).toBe(
      'data: b\n\n',
    );
  });

  test('and of a stream that was cut, every byte that came', () => {
    expect(hide([Buffer.from('data: {"a":1}\n\ndata: {"choices":[{"del')])).toBe(
      'data: {"a":1}\n\ndata: {"choices":[{"del',
    );
  });
});

test('a stream without usage goes through as the same chunks', () => {
  const hider = createUsageHider();
  const chunk = Buffer.from('data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[]}\n\n');
  expect(hider.push(chunk)).toBe(chunk);
});

test('whole events go out at once and only the incomplete one is held', () => {
  const hider = createUsageHider();
  expect(hider.push(Buffer.from('data: a\n\ndata: b'))?.toString()).toBe('data: a\n\n');
  expect(hider.bufferedBytes).toBe(7);
  expect(hider.push(Buffer.alloc(0))).toBeNull();
  expect(hider.push(Buffer.from('c\n'))).toBeNull();
  expect(hider.push(Buffer.from('\n'))?.toString()).toBe('data: bc\n\n');
  expect(hider.push(Buffer.from('data: {"choices":[],"usage":{}}\n\n'))).toBeNull();
  expect(hider.finish()).toBeNull();
});

test('an event beyond the limit is let go, and everything after it passes untouched', () => {
  const hider = createUsageHider();
  const head = Buffer.from(`data: "${'x'.repeat(MAX_HELD_BYTES)}`);
  expect(hider.push(head)?.length).toBe(head.length);
  const rest = Buffer.from('"\n\ndata: {"choices":[],"usage":{}}\n\n');
  expect(hider.push(rest)).toBe(rest);
  expect(hider.finish()).toBeNull();
});

test('any stream, asked and hidden, equals the stream that was not asked, however it is cut', () => {
  const delta = fc.record({
    id: fc.string(),
    choices: fc.array(fc.record({ delta: fc.jsonValue() }), { minLength: 1 }),
  });
  const cuts = fc.array(fc.nat({ max: 5000 }), { maxLength: 8 });
  const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
  fc.assert(
    fc.property(fc.array(delta, { maxLength: 4 }), fc.nat({ max: 2 }), lineEnd, cuts, (deltas, place, eol, places) => {
      const write = (members: readonly (readonly [string, unknown])[]): string =>
        `data: {${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}${eol}${eol}`;
      const plain = deltas.map((value) => write(Object.entries(value)));
      const asked = deltas.map((value) => {
        const members: (readonly [string, unknown])[] = Object.entries(value);
        return write(members.toSpliced(place, 0, ['usage', null]));
      });
      const extra = write(Object.entries({ choices: [], usage: { prompt_tokens: 1 } }));
      const input = Buffer.from([...asked, extra, `data: [DONE]${eol}${eol}`].join(''));
      const at = [0, ...places.map((cut) => cut % (input.length + 1)).sort((a, b) => a - b), input.length];
      const pieces = at.slice(1).map((to, index) => input.subarray(at[index], to));
      expect(hide(pieces)).toBe(latin1([...plain, `data: [DONE]${eol}${eol}`].join('')));
    }),
  );
});
