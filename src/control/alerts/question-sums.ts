/** Sums over the latest calls that match, for an alert and for what it would have told of the days before. */
import { type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import { parseLogFilter } from '../log/log-filter.ts';
import { logConditions } from '../log/log-scope.ts';
import { readPromotedKeysFor } from '../log/promoted-keys.ts';
import { allOf, runSql } from '../log/run-sql.ts';
import type { Measure, QuestionSettings } from './alert-kinds.ts';

const PREVIEW_DAYS = 30;
const MAX_STEPS_OF_WINDOW = 12;
const MIN_STEP_SECONDS = 300;

const SUMS: Readonly<Record<Measure, RawBuilder<unknown>>> = {
  cost: sql`coalesce(sum(coalesce(total_cost, known_cost)), 0)`,
  calls: sql`count(*)`,
  errors: sql`count(*) filter (where outcome not in ('ok', 'client_closed'))`,
  tokens: sql`coalesce(sum(coalesce(input_tokens, 0) + coalesce(cache_read_input_tokens, 0)
    + coalesce(cache_creation_input_tokens, 0) + coalesce(output_tokens, 0)), 0)`,
  unpriced_calls: sql`count(*) filter (where cost_status = 'unpriced')`,
};

async function conditionsOf(pool: pg.Pool, accountId: number, settings: QuestionSettings, from: Date) {
  const filters = settings.filters.map(parseLogFilter);
  const promoted = await readPromotedKeysFor(pool, accountId, filters);
  return allOf(logConditions({ accountId, filters, search: null, from, to: null, excludeRuns: false }, promoted));
}

/** Decimal text. */
export async function sumLatest(
  pool: pg.Pool,
  accountId: number,
  settings: QuestionSettings,
  nowMs: number,
): Promise<string> {
  const from = new Date(nowMs - settings.window_seconds * 1_000);
  const where = await conditionsOf(pool, accountId, settings, from);
  const [row] = await runSql(
    pool,
    sql`select ${SUMS[settings.measure]}::text as value from llm_requests where ${where}`,
  );
  return formatUsd(parseUsd(String(row?.['value'] ?? '0')));
}

export interface Preview {
  readonly days: number;
  /** When it would have fired. */
  readonly fired: readonly Date[];
  /** It was looked at by steps of so many seconds, so that a short peak between may be missed or moved. */
  readonly stepSeconds: number;
  readonly highest: string;
}

export async function previewQuestion(
  pool: pg.Pool,
  accountId: number,
  settings: QuestionSettings,
  nowMs: number,
): Promise<Preview> {
  const stepSeconds = Math.max(MIN_STEP_SECONDS, Math.ceil(settings.window_seconds / MAX_STEPS_OF_WINDOW));
  const from = new Date(nowMs - PREVIEW_DAYS * 86_400_000);
  const where = await conditionsOf(pool, accountId, settings, from);
  const rows = await runSql(
    pool,
    sql`select floor(extract(epoch from requested_at) / ${stepSeconds})::int8 as step, ${SUMS[settings.measure]}::text as value
      from llm_requests where ${where} group by 1 order by 1`,
  );
  const sums = rows.map((row) => ({ step: Number(row['step']), value: parseUsd(String(row['value'])) }));
  return { days: PREVIEW_DAYS, stepSeconds, ...walk(sums, settings, stepSeconds) };
}

/** Slides the window over the steps: it fires when the sum reaches the threshold, and again only after it was below. */
function walk(
  sums: readonly { readonly step: number; readonly value: bigint }[],
  settings: QuestionSettings,
  stepSeconds: number,
): Pick<Preview, 'fired' | 'highest'> {
  const threshold = parseUsd(settings.threshold);
  const width = Math.max(1, Math.round(settings.window_seconds / stepSeconds));
  const fired: Date[] = [];
  let sum = 0n;
  let highest = 0n;
  let first = 0;
  let isAbove = false;
  for (const { step, value } of sums) {
    for (let oldest = sums[first]; oldest !== undefined && oldest.step <= step - width; oldest = sums[first]) {
      sum -= oldest.value;
      first += 1;
      // Between two steps with calls it may have fallen below.
      if (sum < threshold) isAbove = false;
    }
    sum += value;
    if (sum > highest) highest = sum;
    if (sum >= threshold && !isAbove) fired.push(new Date((step + 1) * stepSeconds * 1_000));
    isAbove = sum >= threshold;
  }
  return { fired, highest: formatUsd(highest) };
}
