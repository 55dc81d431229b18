/** After a batch: its calls of sub-agents, and those of chains, are put where the other calls of theirs have them. */
import type pg from 'pg';
import type { SpoolLog } from '../../spool/spool-log.ts';
import { CHAIN_SOURCE } from '../../vocabulary/run-sources.ts';
import { settleAgents } from '../log/settle-agents.ts';
import { settleChains } from '../log/settle-chains.ts';
import { describeDatabaseError } from '../store/database-error.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';
import type { BatchItem } from './batch-item.ts';

type Row = LlmRequestRow;

/** By account. Empty for a batch without such calls. */
function listCalls(items: readonly BatchItem[], isWanted: (row: Row) => boolean): ReadonlyMap<number, readonly Row[]> {
  const found = new Map<number, Row[]>();
  for (const item of items) {
    if (item.kind !== 'call' || !isWanted(item.row)) continue;
    const rows = found.get(item.row.account_id);
    if (rows === undefined) found.set(item.row.account_id, [item.row]);
    else rows.push(item.row);
  }
  return found;
}

function isOfSubAgent({ agent_path: path }: Row): boolean {
  return path?.includes('/') === true;
}

function isOfChain({ answer_id: answerId, trace_source: source }: Row): boolean {
  return answerId !== null || source === CHAIN_SOURCE;
}

/**
 * Runs before the spool's cursor advances, so that a crash repeats it. Never rejects: calls are in the log with what they
 * say of themselves, the next batch of the session or chain tries again, and so does grouping the runs by hand.
 */
export async function settleBatch(client: pg.ClientBase, items: readonly BatchItem[], log: SpoolLog): Promise<void> {
  await settle(client, listCalls(items, isOfSubAgent), settleAgents, 'calls of sub-agents', log);
  await settle(client, listCalls(items, isOfChain), settleChains, 'calls that continue an answer', log);
}

async function settle(
  client: pg.ClientBase,
  calls: ReadonlyMap<number, readonly Row[]>,
  move: (client: pg.ClientBase, accountId: number, rows: readonly Row[]) => Promise<number>,
  which: string,
  log: SpoolLog,
): Promise<void> {
  for (const [accountId, rows] of calls) {
    try {
      await client.query('begin');
      await move(client, accountId, rows);
      await client.query('commit');
    } catch (error) {
      log.warn({ reason: describeDatabaseError(error) }, `${which} stay where they place themselves`);
      // Without a connection there is nothing to roll back, and the next statement says so.
      await client.query('rollback').catch(() => {});
    }
  }
}
