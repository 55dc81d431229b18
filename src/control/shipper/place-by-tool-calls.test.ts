/** What becomes of the entries of a spool: the run of each call, whatever else is in its batch. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { endedCall } from '../../../test/support/admin-database.ts';
import type { PositionedEntry } from '../../spool/spool-reader.ts';
import type { CallBegin, CallBody, SpoolEntry } from '../../vocabulary/call-record.ts';
import { placeByToolCalls } from './place-by-tool-calls.ts';

const A = 'toolu_01B6fKfDIJfVeA3tLzsRhTC2';
const B = 'toolu_01thcl7UKniWIKmPSmvl9uxT';
const use = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'bash', input: {} }] });
const PROMPT = { role: 'user', content: 'Mend the tests.' };

function bodyOf(
  id: string,
  direction: CallBody['direction'],
  value: unknown,
  more: Partial<CallBody> = {},
): SpoolEntry {
  const bytes = Buffer.from(JSON.stringify(value));
  const lengths = { totalBytes: bytes.length, headBytes: bytes.length };
  const body = { id, requestedAtMs: 0, direction, contentType: 'application/json', contentEncoding: null, bytes };
  return { type: 'body', body: { ...body, ...lengths, ...more } };
}

/** A call of a key with runs from `tool_calls`. */
function call(
  number: number,
  history: readonly unknown[],
  answer: unknown,
  request: Partial<CallBody> = {},
  response: Partial<CallBody> = {},
  begin: Partial<CallBegin> = { isPlacedByToolCalls: true },
): readonly SpoolEntry[] {
  const end = endedCall(number, { traceId: null, ...begin });
  if (end.type !== 'end') throw new Error('a call without its end');
  const { id } = end.begin;
  const messages = [PROMPT, ...history];
  return [bodyOf(id, 'request', { messages }, request), bodyOf(id, 'response', answer, response), end];
}

async function placesOf(entries: readonly SpoolEntry[]): Promise<readonly (string | null)[]> {
  const positioned = entries.map((entry): PositionedEntry => ({ entry, bytes: 1, at: { segment: 1, offset: 0 } }));
  const placed = await placeByToolCalls(positioned);
  return placed.flatMap(({ entry }) => (entry.type === 'end' ? [entry.begin.traceId] : []));
}

test('two sessions that begin with the same words, side by side, are two runs, and a resumed one is the same', async () => {
  const calls = [
    call(1, [], use(A)),
    call(2, [], use(B)),
    call(3, [use(A)], use('toolu_01Hyvpckun9X7rnVhSXwUu1j')),
    call(4, [use(B)], { role: 'assistant', content: 'Done.' }),
    call(5, [use(A), use('toolu_01Hyvpckun9X7rnVhSXwUu1j')], { role: 'assistant', content: 'Done.' }),
  ];
  const runs = [A, B, A, B, A].map((id) => `tool_call:${id}`);
  expect(await placesOf(calls.flat())).toEqual(runs);
  // Each by itself, as from several processes.
  expect((await Promise.all(calls.map(placesOf))).flat()).toEqual(runs);
});

test('an answer that is compressed counts; one to a request that is not kept whole does not', async () => {
  const bytes = gzipSync(JSON.stringify(use(A)));
  const zipped = { bytes, contentEncoding: 'gzip', totalBytes: bytes.length, headBytes: bytes.length };
  expect(await placesOf(call(1, [], {}, {}, zipped))).toEqual([`tool_call:${A}`]);
  expect(await placesOf(call(1, [], use(B), { totalBytes: 2_000_000 }))).toEqual([null]);
  expect(await placesOf(call(1, [use(A)], use(B), { totalBytes: 2_000_000 }))).toEqual([`tool_call:${A}`]);
});

test('calls that are in a run, of other keys, and without bodies stay where they are', async () => {
  expect(await placesOf(call(1, [use(A)], {}, {}, {}, { traceId: 'mine' }))).toEqual(['mine']);
  expect(await placesOf(call(1, [use(A)], {}, {}, {}, {}))).toEqual([null]);
  expect(await placesOf(call(1, [use(A)], {}).slice(2))).toEqual([null]);
});
