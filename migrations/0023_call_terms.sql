-- compatible with: 0.1.0
-- Indexes over what calls are filtered and sorted by. They are made on days that begin from now on; a job makes them on the
-- days before, one by one (control/log/index-job.ts), and until then those days are searched without them.

create function call_metadata(raw jsonb) returns jsonb
  language sql immutable parallel safe
return lower(raw::text collate "C")::jsonb;
comment on function call_metadata is
  'Metadata in lower case, keys and values: what the index holds. Of several spellings of a key it has the last, so that a search must test metadata_value() as well.';

create function call_terms(
  key_id int4, node text, client text, client_address text, provider text, provider_alias text, endpoint text, model text,
  model_requested text, billing_model text, service_tier text, speed text, region text, inference_geo text, span_path text,
  span_key text, span_name text, closed_before text, error_type text, outcome text, status int2, cost_status text,
  usage_source text, provider_request_id text
) returns int4[]
  language sql immutable parallel safe
return array_remove(array[
  hashtext('key_id=' || key_id::text), hashtext('node=' || node), hashtext('client=' || client),
  hashtext('client_address=' || client_address), hashtext('provider=' || provider),
  hashtext('provider_alias=' || provider_alias), hashtext('endpoint=' || endpoint), hashtext('model=' || model),
  hashtext('model_requested=' || model_requested), hashtext('billing_model=' || billing_model),
  hashtext('service_tier=' || service_tier), hashtext('speed=' || speed), hashtext('region=' || region),
  hashtext('inference_geo=' || inference_geo), hashtext('span_path=' || span_path), hashtext('span_key=' || span_key),
  hashtext('span_name=' || span_name), hashtext('closed_before=' || closed_before), hashtext('error_type=' || error_type),
  case when error_type is not null then hashtext('error_type') end,
  hashtext('outcome=' || nullif(outcome, 'ok')), case when outcome <> 'ok' then hashtext('outcome<>ok') end,
  hashtext('status=' || nullif(status, 200::int2)::text), case when status >= 400::int2 then hashtext('status>=400') end,
  hashtext('cost_status=' || nullif(cost_status, 'exact')), hashtext('usage_source=' || nullif(usage_source, 'provider')),
  hashtext('provider_request_id=' || provider_request_id)
], null);
comment on function call_terms is
  'Hashes of the values that a call is found by; what most calls have (outcome ok, status 200) is not among them.';

create index llm_requests_terms on only llm_requests using gin (
  call_metadata(raw_metadata),
  call_terms(key_id, node, client, client_address, provider, provider_alias, endpoint, model, model_requested,
    billing_model, service_tier, speed, region, inference_geo, span_path, span_key, span_name, closed_before, error_type,
    outcome, status, cost_status, usage_source, provider_request_id)
);

create index llm_requests_by_cost on only llm_requests (account_id, coalesce(total_cost, -1), requested_at);
create index llm_requests_by_duration on only llm_requests (account_id, coalesce(duration_ms, -1), requested_at);
create index llm_requests_by_output on only llm_requests (account_id, coalesce(output_tokens, -1), requested_at);
