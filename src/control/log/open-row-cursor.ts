/** Reads a long answer piece by piece, in one snapshot. It holds a connection until closed. */
import type { RawBuilder } from 'kysely';
import type pg from 'pg';
import { keepConnection } from '../store/pool.ts';
import { compileSql, type SqlRow } from './run-sql.ts';

/** An export may search the whole log before its next row. */
const STATEMENT_LIMIT_MS = 300_000;
/** A limit for a network that swallows packets. */
const QUERY_LIMIT_MS = STATEMENT_LIMIT_MS + 5_000;

export interface RowCursor {
  /** An empty array ends the rows. When it throws a database error, the cursor is closed. */
  readonly next: () => Promise<readonly SqlRow[]>;
  /** Returns the connection; before the last row it ends the connection and the query with it. */
  readonly close: () => void;
}

export async function openRowCursor(pool: pg.Pool, query: RawBuilder<unknown>, pieceRows: number): Promise<RowCursor> {
  const { client, giveBack, close } = await keepConnection(pool);
  async function run(text: string, values: readonly unknown[] = []): Promise<readonly SqlRow[]> {
    try {
      const limited = { text, values: [...values], query_timeout: QUERY_LIMIT_MS };
      const { rows } = await client.query<Record<string, unknown>>(limited);
      return rows;
    } catch (error) {
      close();
      throw error;
    }
  }

  const { text, values } = compileSql(query);
  await run('begin isolation level repeatable read, read only');
  await run(`set local statement_timeout = ${STATEMENT_LIMIT_MS}`);
  await run(`declare piecewise no scroll cursor for ${text}`, values);
  return {
    next: async () => {
      const rows = await run(`fetch ${pieceRows} from piecewise`);
      if (rows.length > 0) return rows;
      await run('commit');
      giveBack();
      return rows;
    },
    close,
  };
}
