-- compatible with: 0.1.0
-- Calls of before get their texts from a job (src/control/texts/texts-job.ts), which the first node of this release runs.

insert into jobs (account_id, kind, subject, title, unit, input, phase)
select id, 'texts', 'texts', 'Read the text of earlier calls', 'bodies', '{}', 'queued' from accounts
where exists (select from llm_bodies);
