-- compatible with: 0.1.0
-- One more facet: the model that served a call, else the requested one, by which costs are grouped. Hours are made anew.
comment on column llm_facet_hourly.facet is 'Empty for all calls; a column of llm_requests, or any_model for the model that served or else was requested; no.<column> for the calls where it is null; metadata.<key in lower case>, promoted or not. Each has the same calls again.';
comment on column llm_facet_deltas.facet is 'As in llm_facet_hourly.';
insert into llm_facet_fill (account_id, filled_from)
select id, 'infinity' from accounts where exists (select from llm_facet_hourly)
on conflict (account_id) do update set filled_from = excluded.filled_from;
