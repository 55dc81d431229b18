/**
 * The questions that compare what is kept about metadata keys with the records: the promoted keys inside the calls, and
 * the counts by hour. Every row that they answer is a defect.
 */
import { MAX_KEYS_AN_HOUR, METADATA_HOURLY_COLUMNS, metadataHourlyAggregate } from './metadata-hourly.ts';

/**
 * A key in a call is one of `metadata_keys` and has the value of the raw metadata; of a promoted key no call that was
 * sent it lacks it.
 */
export const WRONG_CALLS = `
  select r.account_id, r.trace_id, r.id, r.raw_metadata, r.indexed_metadata
  from llm_requests r
  where exists (
    select from jsonb_each_text(r.indexed_metadata) m
    where not exists (
      select from metadata_keys k
      where k.account_id = r.account_id and k.display_key = m.key
        and metadata_value(r.raw_metadata, k.key_lower) = m.value)
  ) or exists (
    select from metadata_keys k
    where k.account_id = r.account_id and k.state = 'promoted'
      and metadata_value(r.raw_metadata, k.key_lower) is not null and not r.indexed_metadata ? k.display_key
  )`;

/** An hour that was full counts some keys only. */
export const WRONG_HOURS = `
  with calls as (select 1 as sign, * from llm_requests),
  records as (${metadataHourlyAggregate('calls')}),
  full_hours as (
    select account_id, hour from llm_metadata_hourly group by account_id, hour having count(*) >= ${MAX_KEYS_AN_HOUR}
  ), counted as (
    select 'records' as side, missing.* from (
      table records except select ${METADATA_HOURLY_COLUMNS} from llm_metadata_hourly) missing
    union all
    select 'rollup', extra.* from (
      select ${METADATA_HOURLY_COLUMNS} from llm_metadata_hourly except table records) extra
  )
  select * from counted c
  where not exists (select from full_hours f where f.account_id = c.account_id and f.hour = c.hour)`;
