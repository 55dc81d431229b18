import { describe, expect, test } from 'vitest';
import {
  callBegin,
  callCheckpoint,
  callEnd,
  callId,
  NOON_MS,
  priceByToken,
} from '../../../test/support/call-fixtures.ts';
import { toBillableCall } from '../../pricing/to-billable-call.ts';
import type { CallBegin, CallEnd } from '../../vocabulary/call-record.ts';
import { buildBatch, makeInterruptedItem } from './build-batch.ts';
import { interruptedEnd, makeRow } from './make-row.ts';

function rowOf(begin: Partial<CallBegin> = {}, end: Partial<CallEnd> = {}) {
  const wholeBegin = callBegin(1, begin);
  const wholeEnd = callEnd(1, end);
  return makeRow(wholeBegin, wholeEnd, priceByToken(toBillableCall(wholeBegin, wholeEnd)), NOON_MS);
}

test('the name of a leaf is the header, else the model asked for, else the one that served, else the endpoint', () => {
  expect(rowOf({ spanName: 'named' }).span_name).toBe('named');
  expect(rowOf().span_name).toBe('gpt-5');
  expect(rowOf({ modelRequested: null }, { modelRequested: null }).span_name).toBe('gpt-5-2025-08-07');
  expect(rowOf({ modelRequested: null }, { modelRequested: null, model: null }).span_name).toBe('chat.completions');
});

test('classes of one kind are added up, and what was not reported stays null', () => {
  const classes = { input: 1, cache_read: 0, cache_creation_5m: 2, cache_creation_1h: 3, output: 4, output_audio: 9 };
  const row = rowOf({}, { usage: { classes, reasoning: null, native: { total: 19 } } });
  expect(row).toMatchObject({
    input_tokens: 1,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 5,
    cache_creation_5m_tokens: 2,
    cache_creation_1h_tokens: 3,
    output_tokens: 4,
    reasoning_tokens: null,
    usage: classes,
    native_usage: { total: 19 },
  });
  const none = rowOf({}, { usage: null, usageSource: 'none' });
  expect(none).toMatchObject({ input_tokens: null, cache_read_input_tokens: null, usage: null, native_usage: null });
  expect(none).toMatchObject({ total_cost: null, known_cost: '0', cost_status: 'no_usage' });
});

test('a record that was shortened has no usage object of the provider, which is not an empty one', () => {
  const usage = { classes: { input: 5 }, reasoning: null, native: {} };
  expect(rowOf({}, { usage, flags: ['compacted'] })).toMatchObject({ input_tokens: 5, native_usage: null });
  expect(rowOf({}, { usage })).toMatchObject({ input_tokens: 5, native_usage: {} });
});

test('usage keeps what its price needs besides the classes', () => {
  const others = [{ purpose: 'batch', model: 'm', classes: { input: 9 }, largestPrompt: 9 }];
  const sum = { classes: { input: 5 }, reasoning: null, native: {}, others, largestPrompt: 4 };
  expect(rowOf({}, { usage: sum }).usage).toEqual({
    input: 5,
    prompts: { largest: 4 },
    others: [{ purpose: 'batch', model: 'm', classes: { input: 9 }, prompts: { largest: 9 } }],
  });
  const terms = { serviceTier: 'flex', speed: null, inferenceGeo: null };
  const turns = [{ purpose: 'turns', model: null, classes: { input: 1 }, terms }];
  const odd = { classes: {}, reasoning: null, native: {}, others: turns };
  expect(rowOf({}, { usage: { ...odd, isIncomplete: true, hasUnknownPrompts: true } }).usage).toEqual({
    others: turns,
    unknown_prompts: true,
    incomplete: true,
  });
  const refused = { classes: { input: 5 }, reasoning: null, native: {}, isRefused: true } as const;
  expect(rowOf({}, { usage: refused }).usage).toEqual({ input: 5, refused: true });
});

test('a span path that was cut is flagged, once', () => {
  expect(rowOf({ spanPath: 'x/'.repeat(300) }, { flags: ['span_cut'] }).flags).toEqual(['span_cut']);
  expect(rowOf({ spanPath: 'x/'.repeat(300) }).span_key?.length).toBe(399);
});

test('an interrupted call has what its checkpoint said, and no times that nobody measured', () => {
  expect(interruptedEnd(callBegin(1), null)).toMatchObject({
    outcome: 'interrupted',
    usage: null,
    usageSource: 'none',
  });
  const end = interruptedEnd(callBegin(1), callCheckpoint(1));
  expect(end).toMatchObject({ status: 200, usageSource: 'partial', responseBytes: 1000, respondedAtMs: null });
});

describe('an interrupted call of a result that can be fetched again', () => {
  const checkpointOf = (terminal: boolean, isFinal: boolean) => {
    const checkpoint = callCheckpoint(1);
    return { ...checkpoint, reading: { ...checkpoint.reading, terminal, laterResult: { id: 'resp_1', isFinal } } };
  };

  test('that had come whole counts it once, together with those who fetch it later', () => {
    const context = { process: 'p', priceCall: priceByToken, nowMs: NOON_MS };
    const item = makeInterruptedItem(callBegin(1), checkpointOf(true, true), context);
    expect(item).toMatchObject({ billedOnceAs: 'resp_1', row: { usage_source: 'provider', cost_status: 'exact' } });
    const fetched = makeInterruptedItem(callBegin(1, { billed: false }), checkpointOf(true, true), context);
    expect(fetched).toMatchObject({ billedOnceAs: 'resp_1', row: { usage_source: 'provider', cost_status: 'exact' } });
  });

  test('that fetched a part of it has no usage: whoever wants the rest fetches it again, whole', () => {
    const end = interruptedEnd(callBegin(1, { billed: false }), checkpointOf(false, true));
    expect(end).toMatchObject({ usage: null, usageSource: 'none', flags: ['result_unread'] });
    expect(end).not.toHaveProperty('billedOnceAs');
  });

  test('that only asked for it is billed later', () => {
    const checkpoint = checkpointOf(false, false);
    const end = interruptedEnd(callBegin(1), { ...checkpoint, reading: { ...checkpoint.reading, usage: null } });
    expect(end).toMatchObject({ usage: null, flags: ['usage_later'] });
    expect(end).not.toHaveProperty('billedOnceAs');
  });
});

test('a batch leaves out what belongs to a call that ended, and puts malformed endings aside', () => {
  const malformed = callBegin(3, { requestedAtMs: Number.NaN });
  const batch = buildBatch(
    [
      { type: 'begin', begin: callBegin(1) },
      { type: 'checkpoint', checkpoint: callCheckpoint(1) },
      { type: 'begin', begin: callBegin(2) },
      { type: 'checkpoint', checkpoint: callCheckpoint(2) },
      { type: 'end', begin: callBegin(1), end: callEnd(1) },
      { type: 'begin', begin: callBegin(1) },
      { type: 'end', begin: malformed, end: callEnd(3) },
    ],
    { process: 'p1', priceCall: priceByToken, nowMs: NOON_MS },
  );
  expect(batch.items.map((item) => item.kind)).toEqual(['call', 'open', 'checkpoint']);
  expect(batch.failed.map(({ begin }) => begin.id)).toEqual([callId(3)]);
});
