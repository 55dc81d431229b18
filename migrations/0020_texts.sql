-- compatible with: 0.1.0
-- What was said in a call and what was answered, as text: for search, and for a line in lists. A node of a former
-- release writes none; a job reads them from the bodies of calls of before.

create table llm_texts (
  id uuid not null,
  requested_at timestamptz(3) not null,
  account_id int4 not null,
  prompt text not null,
  answer text not null,
  prompt_snippet text not null,
  answer_snippet text not null,
  primary key (id, requested_at)
) partition by range (requested_at);
comment on table llm_texts is 'Text of the bodies of calls. Same partitions as llm_requests, with the retention of llm_bodies; no row for a call without a kept body.';
comment on column llm_texts.id is 'As in llm_requests.';
comment on column llm_texts.requested_at is 'As in llm_requests.';
comment on column llm_texts.account_id is 'As in llm_requests.';
comment on column llm_texts.prompt is 'Messages, system prompts, tool calls and results of the request, with line ends between them, without pictures and sound; at most 262,144 characters, of which a longer text has its beginning and its end. Empty where there is none.';
comment on column llm_texts.answer is 'Text, thoughts, tool calls and results of the answer, likewise.';
comment on column llm_texts.prompt_snippet is 'The beginning of the last message of the user, in one line of at most 120 characters; else of the last text.';
comment on column llm_texts.answer_snippet is 'The beginning of the answer, likewise; of a call of a tool where there is no text.';

-- A server may have been built without lz4: its own compression serves as well, and takes longer.
do $$ begin
  alter table llm_texts alter prompt set compression lz4, alter answer set compression lz4;
exception when feature_not_supported then null;
end $$;
