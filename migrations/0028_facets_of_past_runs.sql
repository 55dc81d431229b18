-- compatible with: 0.1.0
-- What a run uses is read from its calls. The rows that former releases wrote for runs with calls are not read any longer;
-- retention makes history of them.
comment on table llm_run_facets is 'What the calls had that retention has dropped: models, providers, keys and promoted metadata of runs. Only rows with is_history count.';
comment on column llm_run_facets.facet is 'model, provider, key or metadata.<promoted key>.';
comment on column llm_run_facets.calls is 'Dropped calls of the run with this value.';
comment on column llm_run_facets.is_history is 'False in rows of former releases, which counted calls of the log.';
