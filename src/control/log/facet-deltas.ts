/**
 * What calls add to the roll-up by one dimension, inserted as rows that `fold-facets.ts` folds. For a batch and for a chunk
 * of changed calls it is worked out here, for whole hours by the database; `verify` and a test hold both together.
 */
import type pg from 'pg';
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import { copyIn } from '../store/copy-in.ts';
import { escapeText, storableText } from '../store/copy-text.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';
import {
  ALL_CALLS,
  ALL_METADATA,
  ANY_MODEL,
  DISTRIBUTION_NAMES,
  FACET_COLUMNS,
  type FACET_SOURCE_COLUMNS,
  FACETED_COLUMNS,
  type FacetedColumn,
  facetDeltas,
  NO_MODEL,
  unsetFacet,
} from './call-facets.ts';
import { SUMMED_COLUMNS, TOKEN_COLUMNS } from './call-sums.ts';
import { HOUR_MS } from './cost-buckets.ts';
import { MAX_FACET_KEY_CHARACTERS } from './cost-hourly.ts';
import { addToTally, packTally, placeOf, type Tally } from './distribution.ts';
import { metadataFacetOf } from './facet-plan.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';

/** Below 0 `sign` takes the call back; without one it is added. */
export type SignedCall = Pick<LlmRequestRow, (typeof FACET_SOURCE_COLUMNS)[number]> & { readonly sign?: number };

const COPY_DELTAS = `copy llm_facet_deltas (${FACET_COLUMNS}) from stdin`;

interface Sums {
  /** Calls, errors, client-closed and unpriced calls, then tokens. */
  readonly counts: number[];
  pico: bigint;
  readonly tallies: readonly Tally[];
}

interface Group {
  readonly accountId: number;
  readonly hourMs: number;
  readonly inRun: boolean;
  readonly facet: string;
  readonly value: string;
  readonly sums: Sums;
}

/** Calls that agree in all columns are added up first. */
interface Shape extends Omit<Group, 'facet' | 'value'> {
  readonly values: readonly (string | null)[];
  readonly anyModel: string | null;
}

const COUNTS = 4 + TOKEN_COLUMNS.length;

function noSums(): Sums {
  return {
    counts: new Array<number>(COUNTS).fill(0),
    pico: 0n,
    tallies: DISTRIBUTION_NAMES.map(() => new Map()),
  };
}

/** What a call adds to each of its groups. */
interface CallAdds {
  readonly sign: number;
  readonly counts: readonly number[];
  readonly pico: bigint;
  /** Of its value in each distribution; null without one. */
  readonly places: readonly (number | null)[];
}

function addsOf(row: SignedCall): CallAdds {
  const { sign = 1, outcome, duration_ms: duration, output_tokens: output } = row;
  const cost = row.total_cost ?? row.known_cost;
  return {
    sign,
    counts: [
      1,
      outcome === 'ok' || outcome === 'client_closed' ? 0 : 1,
      row.closed_before === null ? 0 : 1,
      row.total_cost === null ? 1 : 0,
      ...TOKEN_COLUMNS.map((column) => row[column] ?? 0),
    ].map((count) => sign * count),
    pico: cost === null ? 0n : BigInt(sign) * parseUsd(cost),
    places: [
      duration,
      row.first_token_ms,
      output !== null && output > 0 && duration !== null && duration > 0 ? Math.floor((output * 1e6) / duration) : null,
    ].map((value) => (value === null ? null : placeOf(value))),
  };
}

function addCounts(sums: Sums, counts: readonly number[], pico: bigint): void {
  for (let index = 0; index < COUNTS; index += 1) sums.counts[index] = (sums.counts[index] ?? 0) + (counts[index] ?? 0);
  sums.pico += pico;
}

function addCall(sums: Sums, { sign, counts, pico, places }: CallAdds): void {
  addCounts(sums, counts, pico);
  sums.tallies.forEach((tally, index) => {
    const place = places[index] ?? null;
    if (place !== null) addToTally(tally, place, sign);
  });
}

function addSums(to: Sums, { counts, pico, tallies }: Sums): void {
  addCounts(to, counts, pico);
  to.tallies.forEach((tally, index) => {
    for (const [place, times] of tallies[index] ?? []) addToTally(tally, place, times);
  });
}

function cut(text: string): string {
  const stored = storableText(text);
  return stored.length <= MAX_VALUE_CHARACTERS ? stored : [...stored].slice(0, MAX_VALUE_CHARACTERS).join('');
}

function columnValue(row: SignedCall, column: FacetedColumn): string | null {
  const value = row[column];
  return value === null ? null : typeof value === 'string' ? cut(value) : String(value);
}

/** The facet of a key, or null for one that is too long; each key of a batch is looked at once. */
function createFacetNames(): (key: string) => string | null {
  const names = new Map<string, string | null>();
  return (key) => {
    let name = names.get(key);
    if (name === undefined) {
      name = [...key].length > MAX_FACET_KEY_CHARACTERS ? null : metadataFacetOf(storableText(key));
      names.set(key, name);
    }
    return name;
  };
}

/** The values by facet; those of several spellings are joined in the order of their bytes. */
function metadataOf(row: SignedCall, facetOf: (key: string) => string | null): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const keys = Object.keys(row.raw_metadata);
  for (const key of keys.length > 1 ? keys.sort((a, b) => (a < b ? -1 : 1)) : keys) {
    const value: unknown = row.raw_metadata[key];
    const facet = facetOf(key);
    if (typeof value !== 'string' || facet === null) continue;
    const before = found.get(facet);
    found.set(facet, before === undefined ? value : `${before}, ${value}`);
  }
  return found;
}

function groupCalls(
  rows: Iterable<SignedCall>,
  isWide: (accountId: number, facet: string) => boolean,
): Iterable<Group> {
  const shapes = new Map<string, Shape>();
  const groups = new Map<string, Group>();
  const facetOf = createFacetNames();
  const groupOf = (
    { accountId, hourMs, inRun }: Omit<Group, 'facet' | 'value' | 'sums'>,
    facet: string,
    value: string,
  ) => {
    const key = `${accountId} ${hourMs} ${inRun} ${facet}\n${value}`;
    const known = groups.get(key);
    if (known !== undefined) return known.sums;
    const sums = noSums();
    groups.set(key, { accountId, hourMs, inRun, facet, value, sums });
    return sums;
  };
  for (const row of rows) {
    const adds = addsOf(row);
    const place = {
      accountId: row.account_id,
      hourMs: Math.floor(row.requested_at.getTime() / HOUR_MS) * HOUR_MS,
      inRun: row.trace_id !== null,
    };
    const values = FACETED_COLUMNS.map((column) => columnValue(row, column));
    const anyModel = row.model ?? row.model_requested;
    const key = JSON.stringify([place.accountId, place.hourMs, place.inRun, values, anyModel]);
    let shape = shapes.get(key);
    if (shape === undefined) {
      shape = { ...place, values, anyModel: anyModel === null ? null : cut(anyModel), sums: noSums() };
      shapes.set(key, shape);
    }
    addCall(shape.sums, adds);
    if (isWide(place.accountId, ALL_METADATA)) continue;
    for (const [facet, value] of metadataOf(row, facetOf))
      if (!isWide(place.accountId, facet)) addCall(groupOf(place, facet, cut(value)), adds);
  }
  for (const shape of shapes.values()) {
    const { anyModel } = shape;
    addSums(groupOf(shape, ALL_CALLS, ''), shape.sums);
    const modelFacet = anyModel === null ? NO_MODEL : ANY_MODEL;
    if (!isWide(shape.accountId, modelFacet)) addSums(groupOf(shape, modelFacet, anyModel ?? ''), shape.sums);
    for (const [index, column] of FACETED_COLUMNS.entries()) {
      const value = shape.values[index] ?? null;
      const facet = value === null ? unsetFacet(column) : column;
      if (facet !== null && !isWide(shape.accountId, facet)) addSums(groupOf(shape, facet, value ?? ''), shape.sums);
    }
  }
  return groups.values();
}

function encodeLine(
  place: { accountId: number; facet: string; hour: string; value: string; inRun: boolean },
  sums: readonly (string | number)[],
  distributions: readonly Buffer[],
): string {
  const { accountId, facet, hour, value, inRun } = place;
  const bytes = distributions.map((packed) => `\\\\x${packed.toString('hex')}`);
  return `${[accountId, escapeText(facet), hour, escapeText(value), inRun ? 't' : 'f', ...sums, ...bytes].join('\t')}\n`;
}

/** What is taken back and added again leaves nothing to fold. */
function isNothing({ counts, pico, tallies }: Sums): boolean {
  return (
    pico === 0n &&
    counts.every((count) => count === 0) &&
    tallies.every((tally) => [...tally.values()].every((times) => times === 0))
  );
}

/** Adds calls that were inserted or changed in this transaction. */
export async function addCallsToFacets(client: pg.ClientBase, rows: Iterable<SignedCall>): Promise<void> {
  const { rows: found } = await client.query<{ account_id: number; facet: string }>({
    name: 'wide_facets',
    text: 'select account_id, facet from llm_wide_facets',
  });
  const wide = new Set(found.map((row) => `${row.account_id} ${row.facet}`));
  const groups = groupCalls(rows, (accountId, facet) => wide.size > 0 && wide.has(`${accountId} ${facet}`));
  let lines = '';
  for (const { hourMs, sums, ...place } of groups) {
    if (isNothing(sums)) continue;
    const [calls = 0, errors = 0, closed = 0, unpriced = 0, ...tokens] = sums.counts;
    lines += encodeLine(
      { ...place, hour: new Date(hourMs).toISOString() },
      [calls, errors, closed, unpriced, formatUsd(sums.pico), ...tokens],
      sums.tallies.map(packTally),
    );
  }
  if (lines !== '') await copyIn(client, COPY_DELTAS, lines);
}

type DeltaRow = Readonly<Record<string, unknown>> & {
  readonly account_id: number;
  readonly facet: string;
  readonly hour: Date;
  readonly value: string;
  readonly in_run: boolean;
  readonly sign: number;
};

/** Adds what `source` has, or takes it back as its `sign` says. */
export async function addSourceToFacets(
  client: pg.ClientBase,
  source: string,
  values: readonly unknown[] = [],
): Promise<void> {
  const { rows } = await client.query<DeltaRow>(facetDeltas(source), [...values]);
  const lines = rows.map((row) => {
    const packed = DISTRIBUTION_NAMES.map((name) => {
      const list = row[name];
      const tally: Tally = new Map();
      if (typeof list === 'string')
        for (const value of list.split(' ')) addToTally(tally, placeOf(Number(value)), row.sign < 0 ? -1 : 1);
      return packTally(tally);
    });
    const place = {
      accountId: row.account_id,
      facet: row.facet,
      hour: row.hour.toISOString(),
      value: row.value,
      inRun: row.in_run,
    };
    return encodeLine(
      place,
      SUMMED_COLUMNS.map((column) => String(row[column])),
      packed,
    );
  });
  if (lines.length > 0) await copyIn(client, COPY_DELTAS, lines.join(''));
}
