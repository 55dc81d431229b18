-- compatible with: 0.1.0
-- A call that moves to another run is new to that run, to lists of runs and to the search, and no news in the log. A node of a
-- former release leaves this null, and what it moves comes again in live tails.

alter table llm_requests add column stored_xid xid8;
comment on column llm_requests.stored_xid is 'Transaction that inserted the row, where a move to another run has given it a later ingest_xid; null otherwise. The live tail reads in this order.';

-- On days that begin from now on, like llm_requests_terms. Calls that were never moved are not in it.
create index llm_requests_moved on only llm_requests (stored_xid, id) where stored_xid is not null;

comment on column llm_requests.ingest_xid is 'Transaction that inserted the row or moved it to another run: the search is indexed in this order, and pages of runs follow it.';
