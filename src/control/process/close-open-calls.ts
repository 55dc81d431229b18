/** Closes calls whose ending cannot be expected here as interrupted. A real ending still replaces that row. */
import type pg from 'pg';
import type { PriceCallOf } from '../../pricing/billable-call.ts';
import type { SpoolLog } from '../../spool/spool-log.ts';
import type { CallBegin, CallCheckpoint } from '../../vocabulary/call-record.ts';
import { BatchTimeoutError, createBatchPace } from '../shipper/batch-pace.ts';
import { makeInterruptedItem } from '../shipper/build-batch.ts';
import { openIngestSession } from '../shipper/ingest-session.ts';
import { putAside } from '../shipper/store-items.ts';
import { storePaced } from '../shipper/store-paced.ts';

export interface CloseOptions {
  readonly pool: pg.Pool;
  readonly prices: { readonly priceCall: PriceCallOf };
  readonly quarantineDir: string;
  readonly log: SpoolLog;
  readonly nowMs: () => number;
  readonly listIds: (client: pg.ClientBase) => Promise<readonly string[]>;
}

/** Calls under way when a backup was made; later ones are of this gateway. */
export function listOpenUntil(untilMs: number): CloseOptions['listIds'] {
  return async (client) => {
    const { rows } = await client.query<{ id: string }>(
      'select id from llm_open_calls where requested_at <= $1 order by id',
      [new Date(untilMs)],
    );
    return rows.map(({ id }) => id);
  };
}

/** Their process may be accounted for later, when its spool turns up. */
const NOTE_CLOSED = `
  insert into llm_closed_calls (id, process, ordinal)
  select id, process, case when jsonb_typeof(begin->'ordinal') = 'number' then (begin->>'ordinal')::int8 end
  from llm_open_calls where id = any($1::uuid[])
  on conflict (id) do nothing`;

/** Returns the number of calls. Rejects when the database does not answer. */
export async function closeOpenCalls(options: CloseOptions): Promise<number> {
  const { pool, prices, quarantineDir, log } = options;
  const counts = { rows: 0, sanitised: 0, quarantined: 0 };
  const pace = createBatchPace();
  let session = await openIngestSession(pool);
  try {
    let left = await options.listIds(session.client);
    while (left.length > 0) {
      const ids = left.slice(0, pace.limits().maxEnds);
      const { rows } = await session.client.query<{
        begin: CallBegin;
        checkpoint: CallCheckpoint | null;
        process: string;
      }>('select begin, checkpoint, process from llm_open_calls where id = any($1::uuid[]) order by id', [ids]);
      const pricing = { priceCall: prices.priceCall, nowMs: options.nowMs() };
      const items = rows.map(({ begin, checkpoint, process }) =>
        makeInterruptedItem(begin, checkpoint, { ...pricing, process }),
      );
      await session.client.query(NOTE_CLOSED, [ids]);
      // Any prices will do: a row without a total is priced again.
      const stored = storePaced(items, 0, pace, { session, log, counts, triggers: null, pricesVersion: null });
      const refused = await stored.catch((error: unknown) => {
        if (error instanceof BatchTimeoutError) return null;
        throw error;
      });
      if (refused === null) {
        session.close();
        session = await openIngestSession(pool);
        continue;
      }
      await putAside(refused, { quarantineDir, log, counts });
      await session.client.query('delete from llm_open_calls where id = any($1::uuid[])', [ids]);
      left = left.slice(ids.length);
    }
    return counts.rows;
  } finally {
    session.close();
  }
}
