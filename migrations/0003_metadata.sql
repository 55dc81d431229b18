-- Metadata: the value of a key in a call, whatever the case in which its name came.

create function metadata_value(raw jsonb, key text) returns text
  language sql immutable parallel safe
  as $$
    select string_agg(m.value, ', ' order by m.key) from jsonb_each_text(raw) as m where lower(m.key) = lower($2)
  $$;
comment on function metadata_value(jsonb, text) is 'Values of all spellings of the key, joined in the order of the spelling; null when there is none.';
