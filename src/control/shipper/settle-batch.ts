/** After a batch: its calls of sub-agents are put where the other calls of their sessions have them. */
import type pg from 'pg';
import type { SpoolLog } from '../../spool/spool-log.ts';
import { settleAgents } from '../log/settle-agents.ts';
import { describeDatabaseError } from '../store/database-error.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';
import type { BatchItem } from './batch-item.ts';

/** By account. Empty for a batch without calls of sub-agents. */
function listSubAgentCalls(items: readonly BatchItem[]): ReadonlyMap<number, readonly LlmRequestRow[]> {
  const found = new Map<number, LlmRequestRow[]>();
  for (const item of items) {
    if (item.kind !== 'call' || item.row.agent_path?.includes('/') !== true) continue;
    const rows = found.get(item.row.account_id);
    if (rows === undefined) found.set(item.row.account_id, [item.row]);
    else rows.push(item.row);
  }
  return found;
}

/**
 * Runs before the spool's cursor advances, so that a crash repeats it. Never rejects: calls are in the log with what they
 * say of themselves, the next batch of the session tries again, and so does grouping the runs by hand.
 */
export async function settleBatch(client: pg.ClientBase, items: readonly BatchItem[], log: SpoolLog): Promise<void> {
  for (const [accountId, rows] of listSubAgentCalls(items)) {
    try {
      await client.query('begin');
      await settleAgents(client, accountId, rows);
      await client.query('commit');
    } catch (error) {
      log.warn({ reason: describeDatabaseError(error) }, 'calls of sub-agents stay where they place themselves');
      // Without a connection there is nothing to roll back, and the next statement says so.
      await client.query('rollback').catch(() => {});
    }
  }
}
