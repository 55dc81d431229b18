/** The metadata keys of a time range: exact hourly counts, and the values of a sample of the latest calls. */
import type pg from 'pg';
import { ALL_METADATA, METADATA_FACET } from '../log/call-facets.ts';
import { countSpellings, type SpellingCount } from './count-calls.ts';
import { type KeySample, sampleKeys } from './sample-keys.ts';

/** The keys with the most calls are listed. */
const MAX_KEYS = 500;
/** With fewer calls, unique values mean nothing. */
const MIN_CALLS_FOR_UNIQUE = 50;
const UNIQUE_SHARE = 0.9;
const PERSONAL_SHARE = 0.1;

export const KEY_STATES = ['raw', 'promoting', 'promoted', 'demoting', 'failed'] as const;
export const KEY_WARNINGS = ['unique_per_call', 'looks_personal', 'two_spellings'] as const;

export interface MetadataKey {
  readonly key: string;
  readonly spellings: readonly { readonly spelling: string; readonly calls: number }[];
  readonly calls: number;
  /** Share of the range's calls, 0 to 1. */
  readonly share: number;
  readonly distinctValues: number;
  readonly examples: readonly { readonly value: string; readonly calls: number }[];
  readonly firstSeen: Date | null;
  readonly lastSeen: Date | null;
  readonly averageLength: number | null;
  readonly state: (typeof KEY_STATES)[number];
  readonly promotedAt: Date | null;
  readonly jobId: number | null;
  /** It has too many values, or there are too many keys, for sums by hour: questions about it read calls. */
  readonly isWide: boolean;
  readonly warnings: readonly (typeof KEY_WARNINGS)[number][];
}

export interface MetadataKeyList {
  readonly keys: readonly MetadataKey[];
  readonly totalCalls: number;
  readonly sampledCalls: number;
}

interface PromotionRow {
  readonly keyLower: string;
  readonly displayKey: string;
  readonly state: 'promoting' | 'promoted' | 'demoting';
  readonly promotedAt: Date | null;
  readonly jobId: number | null;
  readonly jobState: string | null;
}

async function readPromotions(client: pg.Pool, accountId: number): Promise<ReadonlyMap<string, PromotionRow>> {
  const { rows } = await client.query<PromotionRow>(
    `select k.key_lower as "keyLower", k.display_key as "displayKey", k.state, k.promoted_at as "promotedAt",
       k.job_id as "jobId", j.state as "jobState"
     from metadata_keys k left join jobs j on j.id = k.job_id where k.account_id = $1`,
    [accountId],
  );
  return new Map(rows.map((row) => [row.keyLower, row]));
}

/** Keys in lower case without sums by hour; null when no key has them. */
async function readWideKeys(pool: pg.Pool, accountId: number): Promise<ReadonlySet<string> | null> {
  const { rows } = await pool.query<{ facet: string }>(
    'select facet from llm_wide_facets where account_id = $1 and starts_with(facet, $2)',
    [accountId, METADATA_FACET],
  );
  const facets = rows.map(({ facet }) => facet);
  return facets.includes(ALL_METADATA) ? null : new Set(facets.map((facet) => facet.slice(METADATA_FACET.length)));
}

/** Rounds `from` down and `to` up to whole hours. */
export async function listMetadataKeys(
  pool: pg.Pool,
  accountId: number,
  from: Date,
  to: Date,
): Promise<MetadataKeyList> {
  const [counts, samples, promotions, wide] = await Promise.all([
    countSpellings(pool, accountId, from, to),
    sampleKeys(pool, accountId, from, to),
    readPromotions(pool, accountId),
    readWideKeys(pool, accountId),
  ]);
  const totalCalls = counts.get('')?.[0]?.calls ?? 0;
  const names = new Set([
    ...promotions.keys(),
    ...[...counts].filter(([, spellings]) => callsOf(spellings) > 0).map(([name]) => name),
  ]);
  names.delete('');
  const keys = [...names].map((name) => ({
    ...describeKey(name, counts.get(name) ?? [], samples.keys.get(name), promotions.get(name), totalCalls),
    isWide: wide?.has(name) ?? true,
  }));
  keys.sort((a, b) => b.calls - a.calls || (a.key < b.key ? -1 : 1));
  return { keys: keys.slice(0, MAX_KEYS), totalCalls, sampledCalls: samples.calls };
}

function callsOf(spellings: readonly SpellingCount[]): number {
  return spellings.reduce((sum, { calls }) => sum + calls, 0);
}

function describeKey(
  name: string,
  counted: readonly SpellingCount[],
  sample: KeySample | undefined,
  promotion: PromotionRow | undefined,
  totalCalls: number,
): Omit<MetadataKey, 'isWide'> {
  const spellings = counted
    .filter(({ calls }) => calls > 0)
    .map(({ spelling, calls }) => ({ spelling, calls }))
    .sort((a, b) => b.calls - a.calls || (a.spelling < b.spelling ? -1 : 1));
  const calls = callsOf(counted);
  return {
    key: promotion?.displayKey ?? chooseSpelling(spellings) ?? name,
    spellings,
    calls,
    share: totalCalls === 0 ? 0 : calls / totalCalls,
    distinctValues: sample?.distinctValues ?? 0,
    examples: sample?.examples ?? [],
    firstSeen: earliest(counted.map(({ firstHour }) => firstHour)),
    lastSeen: sample?.lastSeen ?? latest(counted.map(({ lastHour }) => lastHour)),
    averageLength: sample?.averageLength ?? null,
    state: stateOf(promotion),
    promotedAt: promotion?.promotedAt ?? null,
    jobId: promotion?.jobId ?? null,
    warnings: warningsOf(spellings, sample),
  };
}

/** SDKs and HTTP/2 lower header names, so a spelling with capitals was the intended one. */
function chooseSpelling(spellings: readonly { readonly spelling: string }[]): string | undefined {
  const meant = spellings.find(({ spelling }) => spelling !== spelling.toLowerCase());
  return (meant ?? spellings[0])?.spelling;
}

function stateOf(promotion: PromotionRow | undefined): MetadataKey['state'] {
  if (promotion === undefined) return 'raw';
  return promotion.state !== 'promoted' && promotion.jobState === 'failed' ? 'failed' : promotion.state;
}

function warningsOf(spellings: readonly unknown[], sample: KeySample | undefined): MetadataKey['warnings'] {
  const warnings: MetadataKey['warnings'][number][] = [];
  if (sample !== undefined) {
    if (sample.calls >= MIN_CALLS_FOR_UNIQUE && sample.distinctValues >= sample.calls * UNIQUE_SHARE)
      warnings.push('unique_per_call');
    if (sample.personalCalls >= sample.calls * PERSONAL_SHARE && sample.personalCalls > 0)
      warnings.push('looks_personal');
  }
  if (spellings.length > 1) warnings.push('two_spellings');
  return warnings;
}

function earliest(times: readonly Date[]): Date | null {
  return times.reduce<Date | null>((found, time) => (found === null || time < found ? time : found), null);
}

function latest(times: readonly Date[]): Date | null {
  return times.reduce<Date | null>((found, time) => (found === null || time > found ? time : found), null);
}
