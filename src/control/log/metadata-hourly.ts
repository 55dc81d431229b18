/** The roll-up of how many calls of an hour have a metadata key, as received. The empty key counts all calls. */

/** The bound on keys counted in an hour, so that a client that invents keys cannot fill the table. */
export const MAX_KEYS_AN_HOUR = 2_000;
/** Longer keys would not fit into an index and are not counted. */
const MAX_KEY_BYTES = 200;

export const METADATA_HOURLY_COLUMNS = 'account_id, hour, key, calls';

/** `source` has `sign`, `account_id`, `requested_at` and `raw_metadata`. */
export function metadataHourlyAggregate(source: string): string {
  return `select account_id, date_trunc('hour', requested_at, 'UTC')::timestamptz(3) as hour, k.key, sum(sign)::int8 as calls
  from ${source} cross join lateral (select '' union select jsonb_object_keys(raw_metadata)) k (key)
  where octet_length(k.key) <= ${MAX_KEY_BYTES} group by 1, 2, 3`;
}

/** One statement brings in no more keys of an hour than the hour may have. */
export function insertMetadataDeltas(source: string): string {
  return `insert into llm_metadata_deltas (${METADATA_HOURLY_COLUMNS})
    select ${METADATA_HOURLY_COLUMNS} from (
      select s.*, row_number() over (partition by account_id, hour order by s.key) as place
      from (${metadataHourlyAggregate(source)}) s
    ) placed where place <= ${MAX_KEYS_AN_HOUR}`;
}
