/** Counts the log's unpriced usage by model, terms and classes. A second model within a call counts by itself. */
import type pg from 'pg';
import { MAX_QUANTITY } from '../../../pricing/cost-lines.ts';
import type { ProviderName } from '../../../vocabulary/call-record.ts';
import { CACHE_WRITES, type ClassQuantities, USAGE_CLASSES, type UsageClass } from '../../../vocabulary/token-usage.ts';

/** The groups with most calls; clients can invent models. */
const MAX_GROUPS = 2_000;

/** Calls with the same price-relevant fields. */
export interface UnpricedGroup {
  readonly provider: ProviderName;
  readonly providerAlias: string | null;
  readonly endpoint: string;
  /** The model to bill, after declared mappings; null when the call names none. */
  readonly model: string | null;
  readonly serviceTier: string | null;
  readonly speed: string | null;
  readonly inferenceGeo: string | null;
  readonly region: string | null;
  readonly isBatch: boolean;
  readonly isResultUnread: boolean;
  /** Used classes without a price; empty when usage is unknown. */
  readonly missing: readonly UsageClass[];
  readonly calls: number;
  readonly quantities: ClassQuantities;
  readonly knownCost: string;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly exampleId: string;
}

type GroupRow = Omit<UnpricedGroup, 'missing' | 'quantities'> & {
  readonly missing: readonly string[];
} & Readonly<Record<`sum_${UsageClass}`, string | null>>;

/** Quantities are stored as numbers (`stored-usage.ts`). */
const SUMS = USAGE_CLASSES.map((name) => `sum((classes ->> '${name}')::numeric)::text as sum_${name}`);

/** In this path language a comparison with a non-number selects nothing, which leaves class names. */
const USED = `jsonb_path_query_array(classes, '$.keyvalue() ? (@.value > 0 && @.value <= ${MAX_QUANTITY}).key')`;

/** Cache writes whose rate the answer leaves open; a declared price would not settle it. */
const WITHOUT_OPEN_WRITES = (classes: string, holder: string): string =>
  `case when ${holder} -> 'unknown_writes' is null then ${classes} else ${classes} - '{${CACHE_WRITES.join(',')}}'::text[] end`;

/**
 * `priced` are a part's classes with a line. Another model's line is matched by purpose and quantity, since a mapping
 * may have renamed it. Quantities above `MAX_QUANTITY` are ignored. For a million calls, functions are quicker than
 * subqueries and sorts. Ids begin with their time, so the highest is the latest.
 */
const COUNT_UNPRICED = `
with calls as (
  select id, requested_at, provider, provider_alias, endpoint, billing_model, cost_status, known_cost,
    service_tier, speed, inference_geo, region, is_batch, coalesce(usage, '{}') as usage,
    flags @> '{result_unread}' as is_unread,
    case cost_status when 'unpriced' then '[]' else coalesce(cost_lines, '[]') end as cost_lines
  from llm_requests
  where account_id = $1 and requested_at >= $2 and requested_at < $3 and cost_status in ('unpriced', 'partial')
), parts as (
  select id, requested_at, provider, provider_alias, endpoint, known_cost, is_batch, region,
    billing_model as model, service_tier, speed, inference_geo, ${WITHOUT_OPEN_WRITES('usage', 'usage')} as classes,
    is_unread, (cost_status = 'unpriced' or is_unread) and not usage ? 'others' as is_unknown,
    case cost_lines when '[]' then '{}' else
      array(select line ->> 'class' from jsonb_array_elements(cost_lines) line where not line ? 'purpose')
    end as priced
  from calls
  union all
  select id, requested_at, provider, provider_alias, endpoint, known_cost, is_batch, region,
    coalesce(other ->> 'model', billing_model),
    case when other ? 'terms' then other -> 'terms' ->> 'serviceTier' else service_tier end,
    case when other ? 'terms' then other -> 'terms' ->> 'speed' else speed end,
    case when other ? 'terms' then other -> 'terms' ->> 'inferenceGeo' else inference_geo end,
    ${WITHOUT_OPEN_WRITES("(other -> 'classes')", 'other')}, false, false,
    array(
      select line ->> 'class' from jsonb_array_elements(cost_lines) line
      where line ->> 'purpose' = other ->> 'purpose' and line -> 'quantity' = other -> 'classes' -> (line ->> 'class')
    )
  from calls cross join lateral
    jsonb_array_elements(case jsonb_typeof(usage -> 'others') when 'array' then usage -> 'others' else '[]' end) other
  where usage ? 'others'
), gaps as (
  select parts.*, ${USED} - priced as missing from parts
)
select provider, provider_alias as "providerAlias", endpoint, model, service_tier as "serviceTier", speed,
  inference_geo as "inferenceGeo", region, is_batch as "isBatch", is_unread as "isResultUnread", missing,
  count(*) as calls,
  coalesce(sum(known_cost), 0)::text as "knownCost", min(requested_at) as "firstSeen", max(requested_at) as "lastSeen",
  max(id::text collate "C") as "exampleId",
  ${SUMS.join(',\n  ')}
from gaps
where missing <> '[]' or is_unknown
group by provider, provider_alias, endpoint, model, service_tier, speed, inference_geo, region, is_batch, is_unread,
  missing
order by count(*) desc, max(requested_at) desc
limit ${MAX_GROUPS}`;

function readQuantities(row: GroupRow): ClassQuantities {
  const quantities: Partial<Record<UsageClass, number>> = {};
  for (const name of USAGE_CLASSES) {
    const reported = row[`sum_${name}`];
    const sum = Number(reported ?? 0);
    if (sum > 0) quantities[name] = Math.min(sum, Number.MAX_SAFE_INTEGER);
  }
  return quantities;
}

export async function countUnpriced(
  client: pg.ClientBase,
  accountId: number,
  from: Date,
  to: Date,
): Promise<readonly UnpricedGroup[]> {
  const { rows } = await client.query<GroupRow>(COUNT_UNPRICED, [accountId, from, to]);
  return rows.map((row) => ({
    ...row,
    missing: USAGE_CLASSES.filter((name) => row.missing.includes(name)),
    quantities: readQuantities(row),
  }));
}
