/** What brakes need of each call: written by the transaction that stores the call, read by the node that watches. */
import type pg from 'pg';
import { z } from 'zod';
import type { CallMarks } from '../../formats/texts/call-marks.ts';
import { storableJson } from '../store/copy-text.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';

/** Older calls say nothing about now: they waited in a spool, or are demo data. */
const MAX_AGE_MS = 3_600_000;
/** For a watcher that takes over. */
const KEPT_MINUTES = 60;
const BATCHES_AT_ONCE = 50;
/** Numbers of batches that were not there when later ones were: still being stored, or rolled back. */
const MAX_GAPS = 5_000;
const GAP_LIMIT_MS = 60_000;

const Fact = z.object({
  id: z.string(),
  /** When it arrived. */
  atMs: z.number(),
  keyId: z.number(),
  run: z.string().nullable(),
  /** The agent and model whose cache it shares. */
  thread: z.string(),
  /** US dollars; null where nothing is known of it. */
  cost: z.string().nullable(),
  isUnpriced: z.boolean(),
  isFailed: z.boolean(),
  attempt: z.number(),
  /** With what was read from the cache; null where none were reported. */
  promptTokens: z.number().nullable(),
  cachedTokens: z.number(),
  /** The same for the same request. */
  request: z.string(),
  conversation: z.string().nullable(),
  toolCalls: z.string().nullable(),
});
export type Fact = Readonly<z.infer<typeof Fact>> & { readonly accountId: number };
const Facts = z.array(Fact);

/** Null for what was not sent to a provider, and for a websocket, whose turns are calls. */
export function factOf(row: LlmRequestRow, marks: CallMarks, nowMs: number): Fact | null {
  if (row.outcome === 'rejected' || row.connection_id === row.id) return null;
  const atMs = row.requested_at.getTime();
  if (atMs < nowMs - MAX_AGE_MS) return null;
  const { input_tokens: input, cache_read_input_tokens: read, cache_creation_input_tokens: written } = row;
  const model = row.model_requested ?? row.model ?? '';
  return {
    accountId: row.account_id,
    id: row.id,
    atMs,
    keyId: row.key_id,
    run: row.trace_id,
    thread: `${row.agent_path ?? ''} ${row.span_path ?? ''} ${row.provider} ${model}`,
    cost: row.known_cost ?? row.total_cost,
    isUnpriced: row.cost_status === 'unpriced',
    isFailed: row.outcome !== 'ok' && row.outcome !== 'client_closed',
    attempt: row.attempt ?? 0,
    promptTokens: input === null && read === null ? null : (input ?? 0) + (read ?? 0) + (written ?? 0),
    cachedTokens: read ?? 0,
    request: marks.prompt ?? `${row.endpoint} ${model} ${row.request_bytes}`,
    conversation: marks.conversation,
    toolCalls: marks.toolCalls,
  };
}

/** In the transaction of the calls. One row for each account, so that a batch costs one statement. */
export async function insertFacts(client: pg.ClientBase, facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) return;
  const byAccount = Map.groupBy(facts, ({ accountId }) => accountId);
  await client.query({
    name: 'insert_brake_facts',
    text: `insert into brake_facts (account_id, facts)
      select account_id, facts from unnest($1::int4[], $2::jsonb[]) as batch (account_id, facts)`,
    values: [
      [...byAccount.keys()],
      [...byAccount.values()].map((own) => storableJson(own.map(({ accountId: _, ...fact }) => fact))),
    ],
  });
}

export interface FactReader {
  /** The next facts in the order of storing; none when there are no more now. */
  readonly next: (pool: pg.Pool) => Promise<readonly Fact[]>;
}

/**
 * Batches commit in another order than they are numbered, so gaps are looked for again. `onUnreadable`: a batch of a node of
 * another version, which is passed over: whoever begins anew would stand before it again.
 */
export function createFactReader(onUnreadable: (seq: number) => void): FactReader {
  let highest = 0;
  const gaps = new Map<number, number>();

  function note(seqs: readonly number[], nowMs: number): void {
    for (const seq of seqs) {
      gaps.delete(seq);
      // What was before the first look is too old to be waited for.
      if (highest > 0)
        for (let missing = Math.max(highest + 1, seq - MAX_GAPS); missing < seq; missing += 1) gaps.set(missing, nowMs);
      highest = Math.max(highest, seq);
    }
    for (const [seq, sinceMs] of gaps) if (nowMs - sinceMs > GAP_LIMIT_MS || gaps.size > MAX_GAPS) gaps.delete(seq);
  }

  return {
    next: async (pool) => {
      const { rows } = await pool.query<{ seq: number; accountId: number; facts: unknown }>(
        `select seq, account_id as "accountId", facts from brake_facts
         where seq > $1 or seq = any($2::int8[]) order by seq limit ${BATCHES_AT_ONCE}`,
        [highest, [...gaps.keys()]],
      );
      note(
        rows.map(({ seq }) => seq),
        performance.now(),
      );
      return rows.flatMap(({ seq, accountId, facts }) => {
        const { data } = Facts.safeParse(facts);
        if (data === undefined) onUnreadable(seq);
        return (data ?? []).map((fact) => ({ ...fact, accountId }));
      });
    },
  };
}

export async function forgetOldFacts(pool: pg.Pool): Promise<void> {
  await pool.query('delete from brake_facts where stored_at < now() - make_interval(mins => $1)', [KEPT_MINUTES]);
}
