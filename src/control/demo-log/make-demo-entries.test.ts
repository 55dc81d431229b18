import { describe, expect, test } from 'vitest';
import type { SpoolEntry } from '../../vocabulary/call-record.ts';
import { makeDemoEntries } from './make-demo-entries.ts';

const NOW_MS = Date.UTC(2026, 10, 28, 12);
const HOUR_MS = 3_600_000;

function make(nowMs: number): readonly SpoolEntry[] {
  const always = () => true;
  return makeDemoEntries({
    accountId: 1,
    keyId: 9,
    node: 'demo',
    nowMs,
    keepsCall: always,
    keepsBodies: always,
  });
}

function calls(entries: readonly SpoolEntry[]) {
  return entries.filter((entry) => entry.type === 'end');
}

function bodyOf(entries: readonly SpoolEntry[], id: string, direction: 'request' | 'response'): string {
  for (const entry of entries)
    if (entry.type === 'body' && entry.body.id === id && entry.body.direction === direction)
      return entry.body.bytes.toString();
  throw new Error('no body');
}

describe('the records of the demo data', () => {
  const entries = make(NOW_MS);

  test('are the same to the last byte for the same moment', () => {
    expect(make(NOW_MS)).toEqual(entries);
  });

  test('are another set of ids an hour later', () => {
    const ids = new Set(calls(entries).map(({ begin }) => begin.id));
    expect(calls(make(NOW_MS + HOUR_MS)).some(({ begin }) => ids.has(begin.id))).toBe(false);
  });

  test('lie in the last 48 hours and have all ended', () => {
    for (const { begin, end } of calls(entries)) {
      expect(begin.requestedAtMs).toBeGreaterThan(NOW_MS - 48 * HOUR_MS);
      expect(end.respondedAtMs).toBeLessThan(NOW_MS);
    }
  });

  test('have an id of their own millisecond, by which a look-up finds the day', () => {
    for (const { begin } of calls(entries))
      expect(Number.parseInt(begin.id.replaceAll('-', '').slice(0, 12), 16)).toBe(begin.requestedAtMs);
  });

  test('report usage that adds up, read from the answer itself', () => {
    for (const { end } of calls(entries)) expect(end.flags).toEqual([]);
    expect(calls(entries).filter(({ end }) => end.outcome === 'ok' && end.usage === null)).toEqual([]);
  });

  test('come from six providers and five programs', () => {
    const providers = new Set(calls(entries).map(({ begin }) => begin.provider));
    expect([...providers].sort()).toEqual(['anthropic', 'bedrock', 'deepseek', 'gemini', 'openai', 'together']);
    expect(new Set(calls(entries).map(({ begin }) => begin.client)).size).toBe(5);
  });

  test('have a conversation whose tool results answer the tool uses before them', () => {
    const agent = calls(entries).filter(({ begin }) => begin.traceId === 'demo-session-5c1e77');
    const last = agent.at(-1);
    const request = JSON.parse(bodyOf(entries, last?.begin.id ?? '', 'request'));
    expect(request.messages).toHaveLength(13);
    const [use] = request.messages.at(-2).content.slice(-1);
    expect(use).toMatchObject({ type: 'tool_use', name: 'Bash' });
    expect(request.messages.at(-1).content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: use.id,
        content: 'All 214 tests passed.',
        cache_control: { type: 'ephemeral' },
      },
    ]);
  });

  test('count a repeated try in the attempt, with the same question', () => {
    const tries = calls(entries).filter(
      ({ begin }) => begin.traceId === 'demo-support-8120' && begin.spanName === 'look up the order',
    );
    expect(tries.map(({ begin, end }) => [begin.attempt, end.status])).toEqual([
      [0, 529],
      [1, 529],
      [2, 200],
    ]);
    const questions = tries.map(({ begin }) => JSON.parse(bodyOf(entries, begin.id, 'request')).messages);
    expect(questions[1]).toEqual(questions[0]);
    expect(questions[2]).toEqual(questions[0]);
  });

  test('have a picture in both forms, and streams in four formats', () => {
    const requests = entries.flatMap((entry) =>
      entry.type === 'body' && entry.body.direction === 'request' ? [entry.body.bytes.toString()] : [],
    );
    expect(requests.some((text) => text.includes('"url":"data:image/png;base64,iVBOR'))).toBe(true);
    expect(requests.some((text) => text.includes('"mimeType":"image/png","data":"iVBOR'))).toBe(true);
    const streamed = new Set(
      calls(entries).flatMap(({ begin, end }) => (begin.streamed && end.outcome === 'ok' ? [begin.endpoint] : [])),
    );
    expect([...streamed].sort()).toEqual(['chat.completions', 'messages', 'responses', 'streamGenerateContent']);
  });
});
