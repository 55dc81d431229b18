/** Fills a database with made-up calls, fast: by SQL alone, with the roll-ups that the shipper would have made of them. */
import type pg from 'pg';
import { FACET_SOURCE_COLUMNS } from '../../src/control/log/call-facets.ts';
import { COST_HOURLY_COLUMNS, costHourlyAggregate } from '../../src/control/log/cost-hourly.ts';
import { addSourceToFacets } from '../../src/control/log/facet-deltas.ts';
import { foldFacets } from '../../src/control/log/fold-facets.ts';
import { METADATA_HOURLY_COLUMNS, metadataHourlyAggregate } from '../../src/control/log/metadata-hourly.ts';
import { RUN_COLUMNS, runAggregate } from '../../src/control/log/run-aggregate.ts';
import { DAY_MS, dayOf, ensurePartitions } from '../../src/control/store/partitions.ts';

const DAYS = 10;
const CALLS_A_STATEMENT = 100_000;

/**
 * The call number `i` of `$2`: evenly spread over the days before `$1`, runs of 20 calls, a fifth outside runs. Nine in
 * ten have the key Feature, in three spellings and with 25 values; all have three more keys.
 */
const INSERT_CALLS = `
  insert into llm_requests (id, requested_at, account_id, key_id, node, client, provider, endpoint, method, path, model,
    model_requested, billing_model, streamed, is_batch, attempt, status, outcome, flags, trace_id, span_path, span_key,
    span_name, raw_metadata, indexed_metadata, input_tokens, cache_read_input_tokens, output_tokens, usage, native_usage,
    usage_source, input_cost, cache_read_cost, output_cost, total_cost, known_cost, cost_status, cost_lines, price_version,
    priced_at, responded_at, duration_ms, headers_ms, first_byte_ms, overhead_us, request_bytes, response_bytes)
  select
    (lpad(to_hex((extract(epoch from at) * 1000)::int8), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '8' || lpad(to_hex(i), 15, '0'))::uuid,
    at, 1, 1, 'bench', 'openai-node', provider, 'chat.completions', 'POST', '/v1/chat/completions', model || '-2026-08-07', model, model,
    i % 2 = 0, false, 0, case when i % 50 = 0 then 500 else 200 end, case when i % 50 = 0 then 'upstream_error' else 'ok' end, '{}',
    run, case when run is not null then 'plan/step-' || i % 5 end, case when run is not null then 'plan/step-' || i % 5 end, model,
    case when i % 10 = 0 then '{}'::jsonb
      else jsonb_build_object((array['Feature', 'feature', 'FEATURE'])[1 + i % 3], 'feature-' || i % 25) end
      || jsonb_build_object('User-Id', 'user-' || i % 5000, case when i % 2 = 0 then 'Environment' else 'environment' end, 'production',
        'Session', md5((i / 40)::text)),
    '{}', 500 + i % 4000, 100, 50 + i % 700,
    jsonb_build_object('input', 500 + i % 4000, 'cache_read', 100, 'output', 50 + i % 700),
    jsonb_build_object('prompt_tokens', 600 + i % 4000, 'completion_tokens', 50 + i % 700, 'total_tokens', 650 + i % 4700,
      'prompt_tokens_details', jsonb_build_object('cached_tokens', 100, 'audio_tokens', 0),
      'completion_tokens_details', jsonb_build_object('reasoning_tokens', 0, 'audio_tokens', 0)),
    'provider', 0.00125 * (500 + i % 4000) / 1000, 0.0000125, 0.01 * (50 + i % 700) / 1000, cost, cost, 'exact',
    jsonb_build_array(
      jsonb_build_object('class', 'input', 'quantity', 500 + i % 4000, 'unit', 'token', 'rate', '0.00000125', 'layer', 'data', 'row', model),
      jsonb_build_object('class', 'output', 'quantity', 50 + i % 700, 'unit', 'token', 'rate', '0.00001', 'layer', 'data', 'row', model)),
    '2026-11-01', at, at + (800 + i % 3000) * interval '1 millisecond', 800 + i % 3000, 300, 301, 180, 2048, 4096
  from (
    select i, $1::timestamptz - ($2 - i) * (interval '${DAYS} days' / $2) as at,
      (array['openai', 'anthropic', 'gemini'])[1 + i % 3] as provider, (array['gpt-5', 'claude-sonnet-5', 'gemini-3-pro', 'gpt-5-mini'])[1 + i % 4] as model,
      case when i % 5 <> 0 then 'run-' || i / 20 end as run,
      (0.00125 * (500 + i % 4000) / 1000 + 0.0000125 + 0.01 * (50 + i % 700) / 1000)::numeric(24,12) as cost
    from generate_series($3::int8, $4::int8) i
  ) made`;

const CALLS = '(select 1 as sign, * from llm_requests) calls';

const FACET_CALLS = `(select 1 as sign, ${FACET_SOURCE_COLUMNS.join(', ')} from llm_requests) calls`;

/** The client must have no statement limit. The roll-ups are those of all calls there are. */
export async function fillLog(client: pg.ClientBase, calls: number, untilMs: number): Promise<void> {
  const until = new Date(untilMs);
  await client.query('begin');
  await ensurePartitions(
    client,
    Array.from({ length: DAYS + 1 }, (_, index) => dayOf(untilMs - index * DAY_MS)),
  );
  await client.query('commit');
  for (let first = 1; first <= calls; first += CALLS_A_STATEMENT)
    await client.query(INSERT_CALLS, [until, calls, first, Math.min(calls, first + CALLS_A_STATEMENT - 1)]);
  await client.query(`
    insert into llm_runs (${RUN_COLUMNS}) ${runAggregate(CALLS)};
    insert into llm_metadata_hourly (${METADATA_HOURLY_COLUMNS}) ${metadataHourlyAggregate(CALLS)};
    insert into llm_cost_hourly (${COST_HOURLY_COLUMNS}) ${costHourlyAggregate(CALLS)};
    analyze llm_requests; analyze llm_runs; analyze llm_metadata_hourly; analyze llm_cost_hourly`);
  await addSourceToFacets(client, FACET_CALLS);
  while ((await foldFacets(client)) > 0);
  await client.query('analyze llm_facet_hourly');
}
