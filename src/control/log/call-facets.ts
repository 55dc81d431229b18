/**
 * The roll-up of calls by hour and by one dimension at a time: a column, or any metadata key. Written here as an
 * aggregate over calls, for jobs and for `verify`. A source has `FACET_SOURCE_COLUMNS` and `sign`. What a batch adds is
 * worked out in `facet-deltas.ts`, since that costs a fifth.
 */
import { SUMMED_COLUMNS, SUMS_BY_SIGN } from './call-sums.ts';
import { MAX_FACET_KEY_CHARACTERS } from './cost-hourly.ts';
import { AGGREGATED_COLUMNS, MAX_VALUE_CHARACTERS } from './run-aggregate.ts';

/** Columns that people filter by and that have few values. */
export const FACETED_COLUMNS = [
  'provider',
  'model',
  'key_id',
  'endpoint',
  'outcome',
  'status',
  'client',
  'cost_status',
] as const;
export type FacetedColumn = (typeof FACETED_COLUMNS)[number];

const NULLABLE: readonly FacetedColumn[] = ['model', 'status', 'client'];

/** The model that served a call, else the requested one: what costs are grouped by. */
export const ANY_MODEL = 'any_model';
export const NO_MODEL = 'no.any_model';

export const ALL_CALLS = '';
export const METADATA_FACET = 'metadata.';

export function unsetFacet(column: FacetedColumn): string | null {
  return NULLABLE.includes(column) ? `no.${column}` : null;
}

/** What `llm_wide_facets` has instead of an endless number of keys. */
export const ALL_METADATA = 'metadata.';

export const FACET_SOURCE_COLUMNS = [
  ...AGGREGATED_COLUMNS,
  'endpoint',
  'status',
  'client',
  'cost_status',
  'raw_metadata',
  'duration_ms',
  'first_token_ms',
] as const;

/** Name of a distribution and the whole number that a call adds to it, or null. */
export const DISTRIBUTED = {
  durations: 'duration_ms',
  first_tokens: 'first_token_ms',
  speeds: 'case when output_tokens > 0 and duration_ms > 0 then output_tokens * 1000000 / duration_ms end',
} as const;
export const DISTRIBUTION_NAMES = ['durations', 'first_tokens', 'speeds'] as const;

export const FACET_KEY_COLUMNS = 'account_id, facet, hour, value, in_run';
/** Columns of `llm_facet_hourly` and `llm_facet_deltas`. */
export const FACET_COLUMNS = `${FACET_KEY_COLUMNS}, ${SUMMED_COLUMNS.join(', ')}, ${DISTRIBUTION_NAMES.join(', ')}`;
const WITH_SIGN = FACET_COLUMNS.replace('in_run', 'in_run, sign');

/** Lists of values, named as in `DISTRIBUTED`. */
export const VALUE_LISTS = DISTRIBUTION_NAMES.map(
  (name) => `string_agg((${DISTRIBUTED[name]})::text, ' ') as ${name}`,
).join(', ');

const SUMS_OF_SHAPES = [
  ...SUMMED_COLUMNS.map((column) => (column === 'total_cost' ? `sum(${column})` : `sum(${column})::int8`)),
  ...DISTRIBUTION_NAMES.map((name) => `string_agg(${name}, ' ')`),
].join(', ');

const FACETS_OF_SHAPE = FACETED_COLUMNS.flatMap((column) => {
  const text = `${column}::text`;
  const unset = unsetFacet(column);
  return unset === null
    ? [`('${column}', ${text})`]
    : [
        `(case when ${column} is null then '${unset}' else '${column}' end, coalesce(left(${text}, ${MAX_VALUE_CHARACTERS}), ''))`,
      ];
});

const ANY_MODEL_OF_SHAPE = `(case when coalesce(model, model_requested) is null then '${NO_MODEL}' else '${ANY_MODEL}' end,
        coalesce(left(coalesce(model, model_requested), ${MAX_VALUE_CHARACTERS}), ''))`;

/** Facets with too many values have no rows. */
export function isNotWide(facet: string): string {
  return `not exists (select from llm_wide_facets w where w.account_id = f.account_id and w.facet = ${facet})`;
}

/**
 * Rows of `FACET_COLUMNS` and `sign`, with lists of values for distributions and sums that have the sign already. Calls
 * that agree in all columns are summed first, so that few rows are summed once more for each column. A call with several
 * spellings of a key has their values joined, as `metadata_value` has it.
 */
export function facetDeltas(source: string): string {
  return `
  select f.* from (
    select account_id, facet, hour, value, in_run, sign, ${SUMS_OF_SHAPES}
    from (
      select account_id, date_trunc('hour', requested_at, 'UTC') as hour, trace_id is not null as in_run, sign,
        ${FACETED_COLUMNS.join(', ')}, model_requested, ${SUMS_BY_SIGN}, ${VALUE_LISTS}
      from ${source} group by 1, 2, 3, 4, ${FACETED_COLUMNS.join(', ')}, model_requested
    ) shapes, lateral (values ('${ALL_CALLS}', ''), ${ANY_MODEL_OF_SHAPE}, ${FACETS_OF_SHAPE.join(', ')}) facets (facet, value)
    group by 1, 2, 3, 4, 5, 6
  ) f (${WITH_SIGN}) where ${isNotWide('f.facet')}
  union all
  select f.* from (
    select account_id, '${METADATA_FACET}' || sent.key, date_trunc('hour', requested_at, 'UTC'),
      left(sent.value, ${MAX_VALUE_CHARACTERS}), trace_id is not null, sign, ${SUMS_BY_SIGN}, ${VALUE_LISTS}
    from ${source}, lateral (
      select lower(m.key collate "C") as key, string_agg(m.value, ', ' order by m.place) as value
      from jsonb_each_text(raw_metadata) with ordinality m (key, value, place)
      where length(m.key) <= ${MAX_FACET_KEY_CHARACTERS} group by 1
    ) sent
    group by 1, 2, 3, 4, 5, 6
  ) f (${WITH_SIGN}) where ${isNotWide('f.facet')} and ${isNotWide(`'${ALL_METADATA}'`)}`;
}
