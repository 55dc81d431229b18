/**
 * Calls without bodies, made by the server itself since 10 million of them would take an hour through the shipper. Every
 * value follows from the call's number by a hash, so two seeds of one size hold the same calls, but for their times.
 */
import type pg from 'pg';
import { dayOf } from '../../src/control/store/partitions.ts';

export const HOUR_MS = 3_600_000;
export const ACCOUNTS = 5;
export const KEYS_OF_ACCOUNT = 6;
/** The run that is as large as a run gets. Its calls have the last numbers. */
export const LARGE_RUN = { traceId: 'large-run', calls: 50_000, hours: 6, daysAgo: 2 } as const;
const SHARE_IN_RUNS = 0.7;
const CALLS_OF_A_RUN = 12;
/** Calls of so many successive numbers share their runs, so that runs overlap. */
const BLOCK = 240;

export const FEATURES = [
  'search',
  'support-chat',
  'summaries',
  'translation',
  'code-review',
  'autocomplete',
  'invoice-reader',
  'moderation',
  'onboarding',
  'reports',
  'email-drafts',
  'tagging',
  'forecast',
  'meeting-notes',
  'legal-check',
  'product-copy',
  'research',
  'tutoring',
  'triage',
  'sql-helper',
  'image-alt-text',
  'returns',
  'pricing-advice',
  'travel-desk',
  'archive',
] as const;

export const TEAMS = [
  'care',
  'labs',
  'growth',
  'core',
  'data',
  'legal',
  'finance',
  'sales',
  'ops',
  'web',
  'apps',
  'hr',
];

export const RARE_KEYS = [
  'Experiment',
  'Variant',
  'Locale',
  'Channel',
  'Campaign',
  'Workflow',
  'Job-Name',
  'Queue',
  'Release',
  'Build',
  'Branch',
  'Commit',
  'Ticket',
  'Order-Id',
  'Document-Id',
  'Workspace',
  'Plan',
  'Cohort',
  'Region-Hint',
  'Device',
  'Browser',
  'Platform',
  'Tool',
  'Agent',
  'Agent-Version',
  'Dataset',
  'Evaluation',
  'Note',
  'Cost-Centre',
  'Purpose',
] as const;

interface SeedModel {
  readonly provider: string;
  readonly endpoint: string;
  readonly path: string;
  readonly requested: string;
  readonly served: string;
  /** US dollars for a million tokens. */
  readonly input: string;
  readonly output: string;
}

function model(provider: string, endpoint: string, requested: string, served: string, rates: string): SeedModel {
  const [input = '0', output = '0'] = rates.split(' ');
  return { provider, endpoint, path: PATHS[endpoint] ?? '/', requested, served, input, output };
}

const PATHS: Readonly<Record<string, string>> = {
  'chat.completions': '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  embeddings: '/v1/embeddings',
  'models.generateContent': '/v1beta/models/gemini:generateContent',
  converse: '/model/claude/converse',
};

/** The most used first. */
export const SEED_MODELS: readonly SeedModel[] = [
  model('openai', 'responses', 'gpt-5.4-mini', 'gpt-5.4-mini-2026-03-17', '0.75 4.5'),
  model('anthropic', 'messages', 'claude-sonnet-5', 'claude-sonnet-5', '3 15'),
  model('openai', 'chat.completions', 'gpt-5.4', 'gpt-5.4-2026-03-05', '2.5 15'),
  model('anthropic', 'messages', 'claude-haiku-4-5', 'claude-haiku-4-5-20251001', '1 5'),
  model('gemini', 'models.generateContent', 'gemini-3.5-flash', 'gemini-3.5-flash', '0.3 2.5'),
  model('openai', 'embeddings', 'text-embedding-3-small', 'text-embedding-3-small', '0.02 0'),
  model('deepseek', 'chat.completions', 'deepseek-v4-flash', 'deepseek-v4-flash', '0.28 0.42'),
  model('anthropic', 'messages', 'claude-opus-5', 'claude-opus-5', '5 25'),
  model('openai', 'chat.completions', 'gpt-5-nano', 'gpt-5-nano-2026-08-07', '0.05 0.4'),
  model('gemini', 'models.generateContent', 'gemini-3.1-pro-preview', 'gemini-3.1-pro-preview', '2 12'),
  model('bedrock', 'converse', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5', '3 15'),
  model('together', 'chat.completions', 'meta-llama/Llama-4-Scout', 'meta-llama/Llama-4-Scout', '0.18 0.59'),
  model('fireworks', 'chat.completions', 'accounts/fireworks/models/qwen3', 'qwen3', '0.2 0.8'),
  model('openai', 'responses', 'o4-mini', 'o4-mini-2026-04-16', '1.1 4.4'),
  model('together', 'chat.completions', 'alderfinch/reviews-tuned-8b', 'alderfinch/reviews-tuned-8b', '0.1 0.1'),
  model('openai', 'embeddings', 'text-embedding-3-large', 'text-embedding-3-large', '0.13 0'),
  model('deepseek', 'chat.completions', 'deepseek-v4-pro', 'deepseek-v4-pro', '0.6 1.7'),
  model('gemini', 'models.generateContent', 'gemini-2.5-flash-lite', 'gemini-2.5-flash-lite', '0.1 0.4'),
  model('bedrock', 'converse', 'amazon.nova-pro-v1:0', 'amazon.nova-pro-v1:0', '0.8 3.2'),
  model('fireworks', 'chat.completions', 'accounts/fireworks/models/kimi-k3', 'kimi-k3', '0.6 2.5'),
];

export const SPAN_NAMES = [
  'classify',
  'plan',
  'look up the order',
  'read the policy',
  'answer',
  'summarise',
  'translate',
  'check facts',
  'write tests',
  'review',
  'search the web',
  'rank results',
  'extract fields',
  'merge drafts',
  'choose a tool',
  'retry',
] as const;

export const ERRORS = [
  [429, 'rate_limit_error', 'Rate limit reached for tokens per minute: limit 200000, used %s. Try again in 8s.'],
  [529, 'overloaded_error', 'The service is overloaded at the moment (request %s). Please try again later.'],
  [500, 'api_error', 'The server had an error while processing request %s.'],
  [400, 'invalid_request_error', 'The input is too long: %s tokens were sent, and this model takes at most 200000.'],
] as const;

/** Which numbers an hour has. */
interface SeedHour {
  readonly day: string;
  readonly startMs: number;
  readonly ms: number;
  readonly first: number;
  readonly last: number;
}

/** Half as many calls by night as by day, fewer on weekends. */
function weightOf(startMs: number): number {
  const at = new Date(startMs);
  const isWeekend = at.getUTCDay() === 0 || at.getUTCDay() === 6;
  return (1 - 0.5 * Math.cos((at.getUTCHours() / 24) * 2 * Math.PI)) * (isWeekend ? 0.6 : 1);
}

/** `untilMs` is a full hour. Numbers follow time, but for those of the large run, which come last. */
export function planHours(calls: number, days: number, untilMs: number): readonly SeedHour[] {
  const starts = Array.from({ length: days * 24 }, (_, index) => untilMs - (days * 24 - index) * HOUR_MS);
  const total = starts.reduce((sum, startMs) => sum + weightOf(startMs), 0);
  const large = calls > LARGE_RUN.calls ? LARGE_RUN.calls : 0;
  const plain = calls - large;
  let before = 0;
  const hours = starts.map((startMs): SeedHour => {
    const first = Math.round((before / total) * plain);
    before += weightOf(startMs);
    return { day: dayOf(startMs), startMs, ms: HOUR_MS, first, last: Math.round((before / total) * plain) - 1 };
  });
  if (large === 0) return hours;
  const largeHours = starts.slice(-LARGE_RUN.daysAgo * 24).slice(0, LARGE_RUN.hours);
  const each = Math.ceil(large / largeHours.length);
  return [
    ...hours,
    ...largeHours.map((startMs, index): SeedHour => {
      const first = plain + index * each;
      return { day: dayOf(startMs), startMs, ms: HOUR_MS, first, last: Math.min(first + each, calls) - 1 };
    }),
  ];
}

export async function stageSeed(client: pg.ClientBase, hours: readonly SeedHour[]): Promise<void> {
  await client.query(`
    create temp table seed_hours (day text, starts timestamptz, ms int8, first int8, last int8);
    create temp table seed_models (n int4, provider text, endpoint text, path text, requested text, served text,
      input_rate numeric, output_rate numeric)`);
  await client.query(
    `insert into seed_hours select day, to_timestamp(starts_ms / 1000), ms, first, last
     from jsonb_to_recordset($1) x (day text, starts_ms float8, ms int8, first int8, last int8)`,
    [JSON.stringify(hours.map(({ startMs, ...hour }) => ({ ...hour, starts_ms: startMs })))],
  );
  await client.query(
    `insert into seed_models select * from jsonb_to_recordset($1) x (n int4, provider text, endpoint text, path text,
       requested text, served text, input_rate numeric, output_rate numeric)`,
    [
      JSON.stringify(
        SEED_MODELS.map(({ input, output, ...rest }, n) => ({ n, ...rest, input_rate: input, output_rate: output })),
      ),
    ],
  );
}

/** A number in [0, 1) from 16 of the 64 bits of a hash. */
function share(hash: string, part: 0 | 1 | 2 | 3): string {
  return `(((${hash} >> ${part * 16}) & 65535) / 65536.0::float8)`;
}

/** About a normal deviate: the sum of the hash's four parts. */
function deviate(hash: string): string {
  return `((${share(hash, 0)} + ${share(hash, 1)} + ${share(hash, 2)} + ${share(hash, 3)} - 2) * 1.73)`;
}

function pick(list: readonly string[], index: string): string {
  return `(array[${list.map((text) => `'${text}'`).join(', ')}])[1 + (${index})::int4]`;
}

function spelled(spellings: readonly (readonly [string, number])[], at: string): string {
  let below = 0;
  const cases = spellings.map(([spelling, part]) => {
    below += part;
    return `when ${at} < ${below} then '${spelling}'`;
  });
  return `case ${cases.join(' ')} end`;
}

/** What belongs to a run, or to a call outside runs, is alike in all of its calls. `o` and `p` are its hashes. */
const METADATA = `
  case when ${share('o', 0)} < 0.85
    then jsonb_build_object(
      ${spelled(
        [
          ['Feature', 0.7],
          ['feature', 0.2],
          ['FEATURE', 0.2],
        ],
        share('o', 1),
      )}, ${pick(FEATURES, `floor(25 * power(${share('o', 2)}, 1.7))`)})
    else jsonb_build_object(${pick(RARE_KEYS.slice(0, 10), `((o >> 40) & 1023) % 10`)}, 'x-' || ((o >> 20) & 15)) end
  || case when ${share('p', 0)} < 0.8
    then jsonb_build_object(${spelled(
      [
        ['User-Id', 0.75],
        ['user-id', 0.3],
      ],
      share('o', 1),
    )}, 'u-' || floor(1000000 * power(((q >> 8) & 16777215) / 16777216.0::float8, 2.5))::int8)
    else jsonb_build_object('Customer-Id', 'c-' || floor(50000 * ${share('q', 2)})::int8) end
  || case when ${share('p', 1)} < 0.7
    then jsonb_build_object(${spelled(
      [
        ['Environment', 0.8],
        ['environment', 0.3],
      ],
      share('o', 3),
    )}, ${pick(['production', 'staging', 'development', 'test'], `floor(4 * power(${share('p', 2)}, 3))`)})
    else jsonb_build_object(${pick(RARE_KEYS.slice(10, 20), `((p >> 50) & 1023) % 10`)}, '#' || ((q >> 30) & 65535)) end
  || case when (c & 3) < 1 then '{}'::jsonb
    when ${share('p', 3)} < 0.7 then jsonb_build_object('Team', ${pick(TEAMS, `floor(12 * power(${share('o', 3)}, 1.5))`)})
    else jsonb_build_object('App-Version', '4.' || ((o >> 12) & 31)) end
  || case when (c & 3) < 2 then '{}'::jsonb else case (c >> 2) & 3
    when 0 then jsonb_build_object('Session-Id', md5(owner::text))
    when 1 then jsonb_build_object('Tenant', 'tenant-' || floor(300 * power(${share('q', 3)}, 2))::int8)
    when 2 then jsonb_build_object('Prompt-Version', 'v' || ((c >> 6) & 63))
    else jsonb_build_object('Request-Tag', md5('tag ' || i)) end end
  || case when (c & 3) < 3 then '{}'::jsonb
    else jsonb_build_object(${pick(RARE_KEYS.slice(20, 30), `((d >> 33) & 1023) % 10`)}, 'a note about ' || ((d >> 12) & 255)) end`;

/** The promoted keys, spelled as promoted; `m` is the metadata. */
const INDEXED_METADATA = `
  case when m ? 'Team' then jsonb_build_object('Team', m -> 'Team') else '{}' end
  || case when coalesce(m -> 'Environment', m -> 'environment') is null then '{}'
    else jsonb_build_object('Environment', coalesce(m -> 'Environment', m -> 'environment')) end`;

export const PROMOTED_KEYS = ['Team', 'Environment'] as const;

const COLUMNS = `id, requested_at, account_id, key_id, node, client, client_address, provider, endpoint, method, path, model,
  model_requested, billing_model, streamed, is_batch, region, attempt, status, outcome, closed_before, error_type,
  error_message, provider_request_id, flags, trace_id, span_path, span_key, span_name, raw_metadata, indexed_metadata,
  input_tokens, cache_read_input_tokens, output_tokens, usage, native_usage, usage_source, input_cost, cache_read_cost,
  output_cost, total_cost, known_cost, cost_status, cost_lines, price_version, priced_at, responded_at, duration_ms,
  headers_ms, first_byte_ms, first_token_ms, overhead_us, request_bytes, response_bytes`;

/**
 * `offset 0` keeps the server from working an expression out wherever it is named. $1: the day. $2: how many calls are
 * outside the large run. $3: the share of those in runs. $4: ids of keys.
 */
function insertCalls(table: string): string {
  const status = `(${pick(
    ERRORS.map(([code]) => String(code)),
    '(d >> 3) & 3',
  )})::int2`;
  return `
  with numbered as (
    select h.starts + (i - h.first + ${share('hashint8extended(i, 9)', 0)}) * (h.ms / (h.last - h.first + 1.0)) * interval '1 millisecond' as at, i,
      hashint8extended(i, 1) as a, hashint8extended(i, 2) as b, hashint8extended(i, 3) as c, hashint8extended(i, 4) as d
    from seed_hours h cross join lateral generate_series(h.first, h.last) i where h.day = $1 offset 0
  ), owned as (
    select *, case when i >= $2 then -1
      when ${share('a', 0)} < $3 then (i / ${BLOCK}) * round(${BLOCK / CALLS_OF_A_RUN} * $3::float8)::int8
        + (((a >> 16) & 65535) % round(${BLOCK / CALLS_OF_A_RUN} * $3::float8)::int8) end as run
    from numbered offset 0
  ), hashed as (
    select *, coalesce(run, i + 1000000000) as owner,
      hashint8extended(coalesce(run, i + 1000000000), 5) as o, hashint8extended(coalesce(run, i + 1000000000), 6) as p,
      hashint8extended(coalesce(run, i + 1000000000), 7) as q
    from owned offset 0
  ), drawn as (
    select h.*, s.*, date_trunc('milliseconds', at) as requested_at, (${METADATA}) as m,
      case when run = -1 then 1 else 1 + width_bucket(${share('q', 0)}, '{0.6,0.8,0.9,0.97}'::float8[]) end as account,
      ${share('b', 3)} < 0.02 as fails, ${share('b', 3)} between 0.02 and 0.023 as is_left,
      (s.served like 'alderfinch%' or ${share('b', 3)} between 0.03 and 0.032) as is_unpriced,
      floor(exp(6.8 + 1.2 * ${deviate('a')}))::int8 as input, floor(exp(5.0 + 1.1 * ${deviate('b')}))::int8 as output,
      case when ((c >> 20) & 1023) % 5 < 2 then floor(exp(7.4 + 0.8 * ${deviate('c')}))::int8 end as cached,
      floor(exp(6.2 + 0.6 * ${deviate('d')}))::int8 as first_ms,
      case when run = -1 then '${LARGE_RUN.traceId}' when run % 10 = 0 then 'checkout-' || run when run is not null then md5('run ' || run) end as trace,
      ${pick(SPAN_NAMES, '(d >> 40) & 15')} as step
    from hashed h join seed_models s on s.n = floor(20 * power(${share('c', 3)}, 1.6))::int4 offset 0
  ), timed as (
    select *, case when fails then 120 + (d & 255) else first_ms + output * 9 end as duration,
      fails or is_left as is_short, case when fails then 0 else (input * input_rate / 1000000)::numeric(24,12) end as input_cost,
      case when cached is not null and not fails then (cached * input_rate / 10000000)::numeric(24,12) end as cached_cost,
      case when fails then 0 else (output * output_rate / 1000000)::numeric(24,12) end as output_cost
    from drawn offset 0
  )
  insert into ${table} (${COLUMNS})
  select
    (lpad(to_hex(round(extract(epoch from requested_at) * 1000)::int8), 12, '0') || '7' || lpad(to_hex(i & 4095), 3, '0') || '8'
      || lpad(to_hex(i), 15, '0'))::uuid,
    requested_at, account, ($4::int4[])[(account - 1) * ${KEYS_OF_ACCOUNT} + 1 + (q >> 36 & 65535) % ${KEYS_OF_ACCOUNT}],
    'node-' || (1 + (o & 1)), ${pick(
      ['openai-node', 'OpenAI/Python', 'Anthropic/Python', 'ai', 'claude-cli', 'google-genai-sdk', 'curl', 'langchain'],
      `floor(8 * power(${share('o', 2)}, 1.5))`,
    )}, '192.0.2.' || ((o >> 24) & 63), provider, endpoint, 'POST', path, case when fails then null else served end, requested,
    case when fails or is_unpriced then null else requested end, (c >> 30) & 1 = 0 and endpoint <> 'embeddings', false,
    case provider when 'bedrock' then 'us-east-1' end, case when fails then (d >> 8) & 1 else 0 end,
    case when fails then ${status} when is_left then null else 200 end,
    case when fails then 'upstream_error' when is_left then 'client_closed' else 'ok' end, case when is_left then 'end' end,
    case when fails then ${pick(
      ERRORS.map(([, type]) => type),
      '(d >> 3) & 3',
    )} end,
    case when fails then format(${pick(
      ERRORS.map(([, , message]) => message),
      '(d >> 3) & 3',
    )}, i % 1000000) end,
    'req_' || md5('request ' || i), case when (d >> 50) & 1023 = 0 then array['path_repaired'] else '{}'::text[] end,
    trace, case when trace is not null then 'agent/round ' || ((c >> 34) & 7) || '/' || step end,
    case when trace is not null then 'agent/round%20' || ((c >> 34) & 7) || '/' || replace(step, ' ', '%20') end,
    case when trace is null then requested when ((d >> 16) & 16777215) % 100000 = 7 then 'reconcile the ledger' else step end,
    m, ${INDEXED_METADATA},
    case when fails then null else input end, case when fails then null else cached end, case when fails then null else output end,
    case when fails then null else jsonb_strip_nulls(jsonb_build_object('input', input, 'cache_read', cached, 'output', output)) end,
    case when fails then null else jsonb_build_object('prompt_tokens', input + coalesce(cached, 0), 'completion_tokens', output,
      'total_tokens', input + output + coalesce(cached, 0), 'prompt_tokens_details', jsonb_build_object('cached_tokens', coalesce(cached, 0), 'audio_tokens', 0),
      'completion_tokens_details', jsonb_build_object('reasoning_tokens', 0, 'audio_tokens', 0)) end,
    case when fails then 'none' when is_left then 'partial' else 'provider' end,
    case when not is_unpriced then input_cost end, case when not is_unpriced then cached_cost end, case when not is_unpriced then output_cost end,
    case when not is_unpriced and not is_left then input_cost + coalesce(cached_cost, 0) + output_cost end,
    case when is_unpriced then 0 else input_cost + coalesce(cached_cost, 0) + output_cost end,
    case when fails then 'not_billed' when is_unpriced then 'unpriced' when is_left then 'partial' else 'exact' end,
    case when fails or is_unpriced then '[]'::jsonb else jsonb_build_array(
      jsonb_build_object('class', 'input', 'quantity', input, 'unit', 'token', 'rate', (input_rate / 1000000)::text, 'amount', input_cost::text, 'layer', 'data', 'row', requested),
      jsonb_build_object('class', 'output', 'quantity', output, 'unit', 'token', 'rate', (output_rate / 1000000)::text, 'amount', output_cost::text, 'layer', 'data', 'row', requested)) end,
    '2026-11-01', requested_at + duration * interval '1 millisecond', requested_at + duration * interval '1 millisecond', duration,
    least(first_ms, duration), least(first_ms, duration) + 1,
    case when (c >> 30) & 1 = 0 and not fails and endpoint <> 'embeddings' then least(first_ms, duration) end, 120 + (d & 127),
    400 + input * 4, 600 + output * 5
  from timed`;
}

export interface PlainSeed {
  readonly calls: number;
  readonly keyIds: readonly number[];
}

/** Fills `table`, a partition of one day. Call `stageSeed` on the connection before. */
export async function insertPlainCalls(
  client: pg.ClientBase,
  table: string,
  day: string,
  { calls, keyIds }: PlainSeed,
): Promise<number> {
  const plain = calls > LARGE_RUN.calls ? calls - LARGE_RUN.calls : calls;
  const inRuns = (SHARE_IN_RUNS * calls - (calls - plain)) / plain;
  const { rowCount } = await client.query(insertCalls(table), [day, plain, inRuns, [...keyIds]]);
  return rowCount ?? 0;
}
