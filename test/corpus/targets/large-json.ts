/** The thinner text of what is too large to be held: JSON of any build, and the events of a stream it may stand in. */
import fc from 'fast-check';
import { JsonThinner, MAX_KEPT_BYTES } from '../../../src/formats/wire/json-thinner.ts';
import { LargeSseEvent } from '../../../src/formats/wire/large-sse-event.ts';
import { readSseBlock } from '../../../src/formats/wire/sse.ts';
import { listFixtures } from '../../support/fixtures.ts';
import { type Cuts, cutInto, cuts, mutated } from '../bytes.ts';
import { createTarget, type FuzzTarget, must, mustEqual } from '../check.ts';

const LARGEST_SEED_BYTES = 6_000;
/** A longer type of an event is none. */
const LONGEST_TYPE = 200;
const SEEDS = listFixtures()
  .map(({ body }) => body)
  .filter((body) => body.length > 0 && body.length <= LARGEST_SEED_BYTES);
const TOKENS = [
  '"',
  '\\',
  '\\u00',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  'null',
  '1,2,3,4,5,6',
  ' ',
  '\n',
  '\xff',
  '"logprobs":[',
];
const LINE_TOKENS = ['\r', '\n', '\r\n', 'data:', 'data: {', '\ndata: "', 'event: x\n', ': ping\n', 'data'];

function thin(pieces: readonly Buffer[]) {
  const thinner = new JsonThinner();
  for (const piece of pieces) thinner.push(piece);
  must(thinner.length <= MAX_KEPT_BYTES, 'what is kept is bounded');
  return { text: thinner.take()?.toString('latin1') ?? null, isUnread: thinner.isUnread };
}

function parse(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same but for what is left out: rows of scalars, and the ends of strings. */
function isThinner(whole: unknown, kept: unknown): boolean {
  if (typeof whole === 'string' && typeof kept === 'string') return whole === kept || whole.length > 64;
  if (typeof whole !== 'object' || whole === null) return Object.is(whole, kept);
  if (typeof kept !== 'object' || kept === null || Array.isArray(whole) !== Array.isArray(kept)) return false;
  if (Array.isArray(whole)) return Array.isArray(kept) && kept.length <= whole.length;
  return Object.entries(whole).every(([name, value]) => isThinner(value, Reflect.get(kept, name)));
}

function checkJson([bytes, where]: readonly [Buffer, Cuts]): void {
  const whole = thin([bytes]);
  mustEqual(thin(cutInto(bytes, where)), whole, 'a thinner text of the same bytes, cut differently');
  const value = parse(bytes.toString('latin1'));
  if (typeof value !== 'object' || value === null) return;
  const kept = parse(whole.text);
  must(kept !== undefined, 'of JSON a thinner text is JSON');
  if (!/"(?:input|args|arguments)"/.test(bytes.toString('latin1')))
    must(isThinner(value, kept), 'a thinner text says the same');
}

function checkEvent([bytes, where]: readonly [Buffer, Cuts]): void {
  const event = new LargeSseEvent();
  for (const piece of cutInto(bytes, where)) event.push(piece);
  const data = event.take()?.toString('latin1') ?? null;
  // Mutable: told by the callback.
  let byRule: readonly [string | null, Buffer] | null = null;
  readSseBlock(bytes, (type, found) => {
    byRule = [type, Buffer.from(found)];
  });
  const [type, found]: readonly [string | null, Buffer] = byRule ?? [null, Buffer.alloc(0)];
  mustEqual(data, thin([found]).text, 'the data of a large event, and of one that is held');
  if (data !== null && (type ?? '').length < LONGEST_TYPE) mustEqual(event.eventType, type, 'its type');
}

/** One event: a blank line would end it. */
const blocks = mutated(SEEDS, LINE_TOKENS).map((bytes) =>
  Buffer.from(
    bytes
      .toString('latin1')
      .replaceAll(/(?:\r\n|\r|\n){2,}/g, '\n')
      .replaceAll(/^(?:\r\n|\r|\n)+|[\r\n]+$/g, ''),
    'latin1',
  ),
);

export const LARGE_JSON_TARGETS: readonly FuzzTarget[] = [
  createTarget('json: a thinner text', 1, fc.tuple(mutated(SEEDS, TOKENS), cuts), checkJson),
  createTarget('sse: a large event', 1, fc.tuple(blocks, cuts), checkEvent),
];
