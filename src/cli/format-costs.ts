/** Formats costs as a table: groups or buckets, the rest, the total. Pure. */

import { COST_GROUP_COLUMNS } from '../control/log/cost-query.ts';
import { formatCount, formatSum } from '../vocabulary/format-amounts.ts';
import { type PicoUsd, parseUsd } from '../vocabulary/usd.ts';
import type { CostsAnswer } from './costs-answer.ts';
import { type Column, formatTable, right } from './format-table.ts';
import { cutText, terminalText } from './terminal-text.ts';

const NOT_SET = '(not set)';
const MAX_VALUE_CHARACTERS = 48;
const METADATA = 'metadata.';
/** For misspelt names: any unknown name is taken for a metadata key. */
const OTHER_DIMENSIONS = `what else costs can be grouped by: ${COST_GROUP_COLUMNS.join(', ')}.`;

type Sums = CostsAnswer['totals'];
type Row = CostsAnswer['data'][number];
type KeyNames = ReadonlyMap<string, string>;

/** `12.3 %`; a dash when the whole is nothing. */
function formatShare(part: PicoUsd, whole: PicoUsd): string {
  if (whole <= 0n) return '—';
  const perMille = (part * 1_000n + whole / 2n) / whole;
  return `${perMille / 10n}.${perMille % 10n} %`;
}

function formatValue(value: string | null, dimension: string, keyNames: KeyNames): string {
  if (value === null) return NOT_SET;
  // An empty value would look like a missing one.
  if (value === '') return '""';
  const name = dimension === 'key' ? keyNames.get(value) : undefined;
  return cutText(terminalText(name === undefined ? value : `${name} (${value})`), MAX_VALUE_CHARACTERS);
}

function labelled(label: string, columns: number): string[] {
  return [label, ...Array.from({ length: columns - 1 }, () => '')];
}

function amounts(sums: Pick<Sums, 'total_cost' | 'calls' | 'unpriced_calls'>, whole: PicoUsd): string[] {
  const cost = parseUsd(sums.total_cost);
  return [
    formatSum(cost, sums.unpriced_calls),
    formatShare(cost, whole),
    formatCount(sums.calls),
    sums.unpriced_calls === 0 ? '' : formatCount(sums.unpriced_calls),
  ];
}

function counts(sums: Sums): string[] {
  const input = sums.input_tokens + sums.cache_read_input_tokens + sums.cache_creation_input_tokens;
  return [sums.errors === 0 ? '' : formatCount(sums.errors), formatCount(input), formatCount(sums.output_tokens)];
}

const AMOUNT_COLUMNS: readonly Column[] = ['cost', 'share', 'calls', 'unpriced'].map(right);
const COUNT_COLUMNS: readonly Column[] = ['errors', 'in', 'out'].map(right);

export function formatCosts(costs: CostsAnswer, groups: readonly string[], keyNames: KeyNames): string[] {
  const titles = groups.map(terminalText);
  const whole = parseUsd(costs.totals.total_cost);
  const valuesOf = (row: Row) => row.group.map((value, index) => formatValue(value, groups[index] ?? '', keyNames));
  const lines = [`Costs from ${formatTime(costs.from, costs.tz)} to ${formatTime(costs.to, costs.tz)} (${costs.tz})`];
  if (costs.interval === 'none') {
    const rows = costs.data.map((row) => [...valuesOf(row), ...amounts(row, whole), ...counts(row)]);
    if (costs.rest !== null)
      rows.push([...labelled(restName(costs), groups.length), ...amounts(costs.rest, whole), ...counts(costs.rest)]);
    rows.push([...labelled('total', groups.length), ...amounts(costs.totals, whole), ...counts(costs.totals)]);
    lines.push(...formatTable([...titles, ...AMOUNT_COLUMNS, ...COUNT_COLUMNS], rows));
  } else {
    const rows = listBuckets(costs, valuesOf).map(({ start, values, bucket }) => [
      formatTime(start, costs.tz),
      ...values,
      ...amounts(bucket, whole),
    ]);
    rows.push([...labelled('total', groups.length + 1), ...amounts(costs.totals, whole)]);
    lines.push(...formatTable([costs.interval, ...titles, ...AMOUNT_COLUMNS], rows));
  }
  if (costs.totals.unpriced_calls > 0)
    lines.push(
      '≥: at least, as the cost of some calls is not wholly known. `tollgate costs unpriced` lists those without a price; the others did not report all they used.',
    );
  for (const [index, name] of groups.entries())
    if (name.startsWith(METADATA) && costs.rest === null && costs.data.every(({ group }) => group[index] === null))
      lines.push(
        `None of these calls has the metadata key "${terminalText(name.slice(METADATA.length))}"; ${OTHER_DIMENSIONS}`,
      );
  return lines;
}

function restName({ rest }: CostsAnswer): string {
  return `(${rest?.groups ?? 0} others)`;
}

/** Sorted by time, then in the order of the groups, the rest last. */
function listBuckets(costs: CostsAnswer, valuesOf: (row: Row) => string[]) {
  const listed = costs.data.map((row) => ({ values: valuesOf(row), buckets: row.buckets ?? [] }));
  if (costs.rest !== null) {
    const width = costs.data[0]?.group.length ?? 1;
    listed.push({ values: labelled(restName(costs), width), buckets: costs.rest.buckets ?? [] });
  }
  const all = listed.flatMap(({ values, buckets }) =>
    buckets.map((bucket) => ({ start: bucket.start, values, bucket })),
  );
  return all.sort((a, b) => (a.start < b.start ? -1 : a.start > b.start ? 1 : 0));
}

/** `2026-11-28 12:00` by the zone's clocks. */
function formatTime(time: string, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone }).format(new Date(time));
}
