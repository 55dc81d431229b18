/**
 * How many calls of an hour have a metadata key: the roll-up `llm_metadata_hourly`, written once for the shipper, for
 * `verify` and for retention. Keys stand as received; the empty key counts all calls.
 */

/** Keys of an hour that are counted; a client that makes up keys must not fill the table. */
export const MAX_KEYS_AN_HOUR = 2_000;
/** Longer keys are not counted: they would not fit into an index. */
const MAX_KEY_BYTES = 200;

export const METADATA_HOURLY_COLUMNS = 'account_id, hour, key, calls';

/** `source` has `sign`, `account_id`, `requested_at` and `raw_metadata`. */
export function metadataHourlyAggregate(source: string): string {
  return `select account_id, date_trunc('hour', requested_at, 'UTC')::timestamptz(3) as hour, k.key, sum(sign)::int8 as calls
  from ${source} cross join lateral (select '' union select jsonb_object_keys(raw_metadata)) k (key)
  where octet_length(k.key) <= ${MAX_KEY_BYTES} group by 1, 2, 3`;
}

/**
 * Common table expressions that end in the insert: a key that is new in its hour is let in while there is room. Rows are
 * locked in the order of their keys.
 */
export function metadataHourlyUpsert(source: string): string {
  return `sent as materialized (
    ${metadataHourlyAggregate(source)}
  ), held as materialized (
    select account_id, hour, count(*) as keys
    from (select distinct account_id, hour from sent) s join llm_metadata_hourly using (account_id, hour)
    group by account_id, hour
  ), placed as (
    select s.*, h.key is not null as is_known,
      row_number() over (partition by account_id, hour, h.key is not null order by s.key) as place
    from sent s left join llm_metadata_hourly h using (account_id, hour, key)
  ), metadata_hours as (
    insert into llm_metadata_hourly as m (${METADATA_HOURLY_COLUMNS})
    select ${METADATA_HOURLY_COLUMNS} from placed left join held using (account_id, hour)
    where is_known or (calls > 0 and place <= ${MAX_KEYS_AN_HOUR} - coalesce(keys, 0))
    order by account_id, hour, key
    on conflict (account_id, hour, key) do update set calls = m.calls + excluded.calls
  )`;
}
