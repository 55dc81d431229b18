/**
 * The figure that a question asks for: now, for the alert, and at every step of the last 30 days, for what it would have
 * told. Both are the same steps of time, added up.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import { parseLogFilter } from '../log/log-filter.ts';
import { logConditions } from '../log/log-scope.ts';
import { type PromotedKeys, readPromotedKeysFor } from '../log/promoted-keys.ts';
import { RUN_DURATION_MS, runConditions } from '../log/run-conditions.ts';
import { parseRunFilters } from '../log/run-filter.ts';
import { allOf, runSql } from '../log/run-sql.ts';
import { type Slice, WALK_LIMITS, type WalkLimits, walkWindow } from '../log/walk-window.ts';
import { inSnapshot } from '../store/pool.ts';
import { type AlertQuestion, lookSecondsOf, type Measure } from './alert-question.ts';
import { addToStep, createFigure, type Tally } from './question-tally.ts';

const PREVIEW_DAYS = 30;
/** A shorter step would be more of them than a page should wait for. */
const MIN_STEP_SECONDS = 60;
const PREVIEW_LIMITS: WalkLimits = { ...WALK_LIMITS, budgetMs: 5_000 };
/** The log is in the order of when calls came: so much earlier are calls looked for that have ended within a window. */
const LONGEST_CALL_SECONDS = 900;

type Amounts = Readonly<Partial<Record<Measure, RawBuilder<unknown>>>>;

const AMOUNTS_OF_CALLS: Amounts = {
  cost: sql`coalesce(sum(coalesce(total_cost, known_cost)), 0)`,
  calls: sql`count(*)`,
  tokens: sql`coalesce(sum(coalesce(input_tokens, 0) + coalesce(cache_read_input_tokens, 0)
    + coalesce(cache_creation_input_tokens, 0) + coalesce(output_tokens, 0)), 0)`,
  unpriced_calls: sql`count(*) filter (where cost_status = 'unpriced')`,
};

const AMOUNTS_OF_RUNS: Amounts = {
  cost: sql`coalesce(sum(r.total_cost), 0)`,
  runs: sql`count(*)`,
  calls: sql`coalesce(sum(r.calls), 0)`,
  tokens: sql`coalesce(sum(r.input_tokens + r.cache_read_input_tokens + r.cache_creation_input_tokens + r.output_tokens), 0)`,
  unpriced_calls: sql`coalesce(sum(r.unpriced_calls), 0)`,
};

const CALL_ENDED_AT = sql`coalesce(responded_at, requested_at)`;

interface Asked {
  readonly accountId: number;
  readonly question: AlertQuestion;
  readonly nowMs: number;
  /** Of the window; each alike. */
  readonly stepSeconds: number;
}

/** Rows: how many steps ago it ended, and what is to be added up. */
function selectSteps({ accountId, question, nowMs, stepSeconds }: Asked, slice: Slice, from: Date, keys: PromotedKeys) {
  const { about, measure, filters } = question;
  const ageOf = (endedAt: RawBuilder<unknown>) =>
    sql`floor(extract(epoch from ${new Date(nowMs)}::timestamptz - ${endedAt}) / ${stepSeconds}::numeric)::int4 as age`;
  const listOf = (duration: RawBuilder<unknown>) =>
    measure === 'p95_duration_ms' ? sql`string_agg(${duration}::text, ' ')` : sql`null`;
  if (about === 'runs') {
    const where = runConditions(
      { ...parseRunFilters(filters), accountId, search: null, ...slice, callsWithin: slice },
      keys,
    );
    return sql`select ${ageOf(sql`r.ended_at`)}, count(*) as count, count(*) filter (where r.errors > 0) as failed,
      ${AMOUNTS_OF_RUNS[measure] ?? sql`0`}::text as amount, ${listOf(RUN_DURATION_MS)} as durations
      from llm_runs r where ${allOf([...where, sql<SqlBool>`r.ended_at > ${from}`])} group by 1`;
  }
  const where = logConditions(
    { accountId, filters: filters.map(parseLogFilter), search: null, ...slice, excludeRuns: false },
    keys,
  );
  const within = sql<SqlBool>`${CALL_ENDED_AT} > ${from} and ${CALL_ENDED_AT} <= ${new Date(nowMs)}`;
  return sql`select ${ageOf(CALL_ENDED_AT)}, count(*) as count,
    count(*) filter (where outcome not in ('ok', 'client_closed')) as failed,
    ${AMOUNTS_OF_CALLS[measure] ?? sql`0`}::text as amount, ${listOf(sql`duration_ms`)} as durations
    from llm_requests where ${allOf([...where, within])} group by 1`;
}

interface Steps {
  /** By how many steps ago. */
  readonly byAge: ReadonlyMap<number, Tally>;
  /** Where the walk through the log ended for want of time; null when all was read. */
  readonly readTo: Date | null;
}

async function readSteps(pool: pg.Pool, asked: Asked, from: Date, limits: WalkLimits | null): Promise<Steps> {
  const { accountId, question, nowMs } = asked;
  const isOfRuns = question.about === 'runs';
  const callFilters = isOfRuns ? parseRunFilters(question.filters).callFilters : question.filters.map(parseLogFilter);
  const keys = await readPromotedKeysFor(pool, accountId, callFilters);
  const byAge = new Map<number, Tally>();
  const window = {
    from: isOfRuns ? from : new Date(from.getTime() - LONGEST_CALL_SECONDS * 1_000),
    to: new Date(nowMs + 1),
  };
  return inSnapshot(pool, async (client) => {
    const ask = async (slice: Slice): Promise<boolean> => {
      for (const row of await runSql(client, selectSteps(asked, slice, from, keys))) {
        const { durations } = row;
        addToStep(
          byAge,
          Number(row['age']),
          { count: Number(row['count']), failed: Number(row['failed']), amount: parseUsd(String(row['amount'])) },
          typeof durations === 'string' ? durations : null,
        );
      }
      return false;
    };
    if (limits === null) {
      await ask(window);
      return { byAge, readTo: null };
    }
    const over = isOfRuns ? 'runs_by_end' : 'calls';
    const end = await walkWindow(client, { over, accountId, direction: 'newest_first', ...window }, limits, ask);
    return { byAge, readTo: end.type === 'time_spent' ? end.searchedTo : null };
  });
}

/** Decimal text; null where there are too few for a share or a percentile. */
export async function askNow(
  pool: pg.Pool,
  accountId: number,
  question: AlertQuestion,
  nowMs: number,
): Promise<string | null> {
  const windowSeconds = question.window_seconds;
  const from = new Date(nowMs - windowSeconds * 1_000);
  const { byAge } = await readSteps(pool, { accountId, question, nowMs, stepSeconds: windowSeconds }, from, null);
  const figure = createFigure(question);
  for (const tally of byAge.values()) figure.add(tally, 1);
  const value = figure.value();
  return value === null ? null : formatUsd(value);
}

export interface Preview {
  /** From here on it was looked at: 30 days, or since the log begins, or as far as there was time to read. */
  readonly since: Date;
  /** When it would have fired. */
  readonly fired: readonly Date[];
  readonly stepSeconds: number;
  /** Null where there were always too few. */
  readonly highest: string | null;
}

export async function previewQuestion(
  pool: pg.Pool,
  accountId: number,
  question: AlertQuestion,
  nowMs: number,
  limits: WalkLimits = PREVIEW_LIMITS,
): Promise<Preview> {
  const windowMs = question.window_seconds * 1_000;
  const width = Math.ceil(question.window_seconds / Math.max(MIN_STEP_SECONDS, lookSecondsOf(question)));
  const stepSeconds = question.window_seconds / width;
  const sinceMs = nowMs - PREVIEW_DAYS * 86_400_000;
  const from = new Date(sinceMs - windowMs);
  const { byAge, readTo } = await readSteps(pool, { accountId, question, nowMs, stepSeconds }, from, limits);
  const beginsMs = await readBegin(pool, accountId, new Date(sinceMs));
  // A window that was read in part would be too low.
  const wholeMs = readTo === null ? sinceMs : readTo.getTime() + windowMs;
  const since = new Date(Math.min(nowMs, Math.max(sinceMs, beginsMs ?? nowMs, wholeMs)));
  return {
    since,
    stepSeconds,
    ...slide(byAge, question, width, { nowMs, sinceMs: since.getTime(), stepMs: stepSeconds * 1_000 }),
  };
}

async function readBegin(pool: pg.Pool, accountId: number, from: Date): Promise<number | null> {
  const { rows } = await pool.query<{ at: Date }>(
    'select requested_at as at from llm_requests where account_id = $1 and requested_at >= $2 order by requested_at limit 1',
    [accountId, from],
  );
  return rows[0]?.at.getTime() ?? null;
}

interface Axis {
  readonly nowMs: number;
  readonly sinceMs: number;
  readonly stepMs: number;
}

/**
 * The window slides over the steps, the oldest first. At the edge of `age` it has in it what ended `age` to
 * `age + width - 1` steps ago. It fires when the figure reaches the threshold, and again only after it was below.
 */
function slide(
  byAge: ReadonlyMap<number, Tally>,
  question: AlertQuestion,
  width: number,
  { nowMs, sinceMs, stepMs }: Axis,
): Pick<Preview, 'fired' | 'highest'> {
  const threshold = parseUsd(question.threshold);
  const figure = createFigure(question);
  const fired: Date[] = [];
  let highest: bigint | null = null;
  let isAbove = false;
  // Between these edges the figure stays as it is.
  const edges = new Set([...byAge.keys()].flatMap((age) => [age, age - width]).filter((age) => age >= 0));
  for (const age of [...edges].sort((a, b) => b - a)) {
    const [come, gone] = [byAge.get(age), byAge.get(age + width)];
    if (come !== undefined) figure.add(come, 1);
    if (gone !== undefined) figure.add(gone, -1);
    const atMs = nowMs - age * stepMs;
    const value = figure.value();
    const isReached = value !== null && value >= threshold;
    if (atMs >= sinceMs) {
      if (value !== null && (highest === null || value > highest)) highest = value;
      if (isReached && !isAbove) fired.push(new Date(atMs));
    }
    isAbove = isReached;
  }
  return { fired, highest: highest === null ? null : formatUsd(highest) };
}
