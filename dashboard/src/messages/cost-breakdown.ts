/** The lines of a call's cost as a table that adds up: the sum is made of the lines and compared with the record. */

import { formatUsd, parseUsd } from '../../../src/vocabulary/usd.ts';
import { isRecord, readNumber, readText, toList } from './json-reading.ts';

export interface CostTableLine {
  readonly class: string;
  readonly quantity: number | null;
  readonly unit: string;
  /** US dollars for `per` units, decimal text. */
  readonly rate: string | null;
  readonly per: number | null;
  readonly multiplier: string | null;
  readonly amount: string | null;
  /** Where the price comes from: the catalog, our overlay, or an override; and which row of it. */
  readonly layer: string | null;
  readonly row: string | null;
  /** The other model that took part, and as what; both null for the call's own. */
  readonly model: string | null;
  readonly purpose: string | null;
  readonly ratedAs: string | null;
}

export interface CostBreakdown {
  readonly lines: readonly CostTableLine[];
  readonly unpriced: readonly { readonly class: string; readonly quantity: number }[];
  readonly sum: string;
  /** Whether the sum is the record's `known_cost` to the last digit; null when the record has none. */
  readonly addsUp: boolean | null;
}

function readAmount(text: string | null): bigint | null {
  if (text === null) return null;
  try {
    return parseUsd(text);
  } catch {
    return null;
  }
}

function readLine(line: unknown): CostTableLine {
  const name = readText(line, 'class') ?? '(unknown)';
  const ratedAs = readText(line, 'rated_as');
  return {
    class: name,
    quantity: readNumber(line, 'quantity'),
    unit: readText(line, 'unit') ?? 'token',
    rate: readText(line, 'rate'),
    per: readNumber(line, 'per'),
    multiplier: readText(line, 'multiplier'),
    amount: readText(line, 'amount'),
    layer: readText(line, 'layer'),
    row: readText(line, 'row'),
    model: readText(line, 'model'),
    purpose: readText(line, 'purpose'),
    ratedAs: ratedAs === name ? null : ratedAs,
  };
}

interface CostColumns {
  readonly cost_lines: unknown;
  readonly usage: unknown;
  readonly known_cost: string | null;
}

export function readCostBreakdown(columns: CostColumns): CostBreakdown {
  const lines = toList(columns.cost_lines).filter(isRecord).map(readLine);
  const usage = isRecord(columns.usage) ? columns.usage : {};
  const ownLines = lines.filter(({ purpose }) => purpose === null);
  const unpriced = [
    ...listUnpriced(usage, ownLines),
    ...toList(usage['others'])
      .filter(isRecord)
      .flatMap((other) => {
        const purpose = readText(other, 'purpose');
        const classes = isRecord(other['classes']) ? other['classes'] : {};
        return listUnpriced(
          classes,
          lines.filter((line) => line.purpose === purpose),
        );
      }),
  ];
  const sum = lines.reduce((total, { amount }) => total + (readAmount(amount) ?? 0n), 0n);
  const known = readAmount(columns.known_cost);
  return { lines, unpriced, sum: formatUsd(sum), addsUp: known === null ? null : known === sum };
}

function listUnpriced(
  used: Readonly<Record<string, unknown>>,
  lines: readonly CostTableLine[],
): CostBreakdown['unpriced'] {
  return Object.entries(used).flatMap(([name, quantity]) =>
    typeof quantity === 'number' && quantity > 0 && !lines.some((line) => line.class === name)
      ? [{ class: name, quantity }]
      : [],
  );
}

const CLASS_WORDS: Readonly<Record<string, string>> = {
  input: 'Input, uncached',
  input_audio: 'Input, audio',
  input_image: 'Input, images',
  input_video: 'Input, video',
  cache_read: 'Read from cache',
  cache_read_audio: 'Read from cache, audio',
  cache_read_image: 'Read from cache, images',
  cache_read_video: 'Read from cache, video',
  cache_creation_5m: 'Written to cache for 5 minutes',
  cache_creation_30m: 'Written to cache for 30 minutes',
  cache_creation_1h: 'Written to cache for 1 hour',
  cache_creation_12h: 'Written to cache for 12 hours',
  output: 'Output, reasoning included',
  output_audio: 'Output, audio',
  output_image: 'Output, images',
  output_video: 'Output, video',
  input_audio_ms: 'Audio sent, in milliseconds',
  input_characters: 'Characters sent',
  output_images: 'Images generated',
  rerank_queries: 'Queries of a reranker',
  web_search_requests: 'Web searches',
  web_fetch_requests: 'Web fetches',
  file_search_requests: 'File searches',
  code_execution_requests: 'Code executions',
  maps_requests: 'Map searches',
  grounded_prompts: 'Answers grounded in a search',
};

export function describeClass(name: string): string {
  return Object.hasOwn(CLASS_WORDS, name) ? (CLASS_WORDS[name] ?? name) : name;
}

/** Why there is no total, or less than one. */
export const COST_STATUS_WORDS: Readonly<Record<string, string>> = {
  exact: 'Every class of the usage has a price, and the usage is complete.',
  partial: 'Only a part of the cost is known: a class without a price, or an answer that ended before its whole usage.',
  unpriced: 'The price book has no price for this model, or does not know the endpoint. It is not counted as zero.',
  no_usage: 'It may have cost something, but the answer did not say how much.',
  not_billed: 'Nothing billable happened.',
};

const ONE = parseUsd('1');

/** Empty for a factor of one, and for what is none. */
export function describeFactor(factor: string): string {
  if (!/^\d{1,6}(?:\.\d{1,10})?$/.test(factor)) return '';
  const value = parseUsd(factor);
  if (value === 0n) return 'free';
  if (value === ONE) return '';
  if (value < ONE) return `${formatUsd((ONE - value) * 100n)} % off`;
  return value <= ONE * 2n ? `${formatUsd((value - ONE) * 100n)} % more` : `${factor} times as much`;
}
