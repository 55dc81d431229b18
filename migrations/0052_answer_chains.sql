-- compatible with: 0.1.0
-- Which answer a call was given, for keys whose runs come from chains of previous_response_id. A node of a former release
-- writes null: chains begin anew after its calls.

alter table llm_requests add column answer_id text;
comment on column llm_requests.answer_id is 'The provider''s id of the answer, which later calls may continue; null unless the key''s runs_from has previous_response_id.';

-- On days that begin from now on, like llm_requests_terms. Calls of other keys are not in it.
create index llm_requests_answers on only llm_requests (answer_id) where answer_id is not null;
