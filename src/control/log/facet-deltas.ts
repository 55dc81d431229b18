/**
 * What calls add to the roll-up by one dimension, inserted as rows that `fold-facets.ts` folds. For a batch it is worked
 * out here from its rows, for jobs by the database; `verify` and a test hold both together.
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
  FACETED_COLUMNS,
  type FacetedColumn,
  facetDeltas,
  NO_MODEL,
  unsetFacet,
} from './call-facets.ts';
import { SUMMED_COLUMNS, TOKEN_COLUMNS } from './call-sums.ts';
import { HOUR_MS } from './cost-buckets.ts';
import { MAX_FACET_KEY_CHARACTERS } from './cost-hourly.ts';
import { addValue, addValues, createDistribution, type Distribution, packDistribution } from './distribution.ts';
import { metadataFacetOf } from './facet-plan.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';

const COPY_DELTAS = `copy llm_facet_deltas (${FACET_COLUMNS}) from stdin`;

interface Sums {
  /** Calls, errors, client-closed and unpriced calls, then tokens. */
  readonly counts: number[];
  pico: bigint;
  readonly distributions: readonly Distribution[];
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
    distributions: DISTRIBUTION_NAMES.map(createDistribution),
  };
}

/** What a call adds to each of its groups. */
interface CallAdds {
  readonly counts: readonly number[];
  readonly pico: bigint;
  readonly values: readonly (number | null)[];
}

function addsOf(row: LlmRequestRow): CallAdds {
  const { outcome, duration_ms: duration, output_tokens: output } = row;
  const cost = row.total_cost ?? row.known_cost;
  return {
    counts: [
      1,
      outcome === 'ok' || outcome === 'client_closed' ? 0 : 1,
      row.closed_before === null ? 0 : 1,
      row.total_cost === null ? 1 : 0,
      ...TOKEN_COLUMNS.map((column) => row[column] ?? 0),
    ],
    pico: cost === null ? 0n : parseUsd(cost),
    values: [
      duration,
      row.first_token_ms,
      output !== null && output > 0 && duration !== null && duration > 0 ? Math.floor((output * 1e6) / duration) : null,
    ],
  };
}

function addCall(sums: Sums, { counts, pico, values }: CallAdds): void {
  for (const [index, count] of counts.entries()) sums.counts[index] = (sums.counts[index] ?? 0) + count;
  sums.pico += pico;
  for (const [index, distribution] of sums.distributions.entries()) {
    const value = values[index] ?? null;
    if (value !== null) addValue(distribution, value, 1);
  }
}

function addSums(to: Sums, from: Sums): void {
  for (const [index, count] of from.counts.entries()) to.counts[index] = (to.counts[index] ?? 0) + count;
  to.pico += from.pico;
  for (const [index, distribution] of from.distributions.entries()) to.distributions[index]?.merge(distribution);
}

function cut(text: string): string {
  const stored = storableText(text);
  return stored.length <= MAX_VALUE_CHARACTERS ? stored : [...stored].slice(0, MAX_VALUE_CHARACTERS).join('');
}

function columnValue(row: LlmRequestRow, column: FacetedColumn): string | null {
  const value = row[column];
  return value === null ? null : typeof value === 'string' ? cut(value) : String(value);
}

/** The values by facet; those of several spellings are joined in the order of their bytes. */
function metadataOf(row: LlmRequestRow): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const keys = Object.keys(row.raw_metadata);
  for (const key of keys.length > 1 ? keys.sort((a, b) => (a < b ? -1 : 1)) : keys) {
    const value: unknown = row.raw_metadata[key];
    if (typeof value !== 'string' || [...key].length > MAX_FACET_KEY_CHARACTERS) continue;
    const facet = metadataFacetOf(storableText(key));
    const before = found.get(facet);
    found.set(facet, before === undefined ? value : `${before}, ${value}`);
  }
  return found;
}

function groupCalls(
  rows: Iterable<LlmRequestRow>,
  isWide: (accountId: number, facet: string) => boolean,
): Iterable<Group> {
  const shapes = new Map<string, Shape>();
  const groups = new Map<string, Group>();
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
    for (const [facet, value] of metadataOf(row))
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

/** Adds calls that were inserted in this transaction. */
export async function addCallsToFacets(client: pg.ClientBase, rows: Iterable<LlmRequestRow>): Promise<void> {
  const { rows: found } = await client.query<{ account_id: number; facet: string }>({
    name: 'wide_facets',
    text: 'select account_id, facet from llm_wide_facets',
  });
  const wide = new Set(found.map((row) => `${row.account_id} ${row.facet}`));
  const groups = groupCalls(rows, (accountId, facet) => wide.size > 0 && wide.has(`${accountId} ${facet}`));
  let lines = '';
  for (const { hourMs, sums, ...place } of groups) {
    const [calls = 0, errors = 0, closed = 0, unpriced = 0, ...tokens] = sums.counts;
    lines += encodeLine(
      { ...place, hour: new Date(hourMs).toISOString() },
      [calls, errors, closed, unpriced, formatUsd(sums.pico), ...tokens],
      sums.distributions.map(packDistribution),
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
      const distribution = createDistribution();
      if (typeof list === 'string') addValues(distribution, list, row.sign < 0 ? -1 : 1);
      return packDistribution(distribution);
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
