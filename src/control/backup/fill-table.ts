/** Copies one table of a backup into the database while reading it. */
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { damaged } from './backup-error.ts';
import type { BackupEvent } from './read-backup.ts';

/** Takes events up to the table's end; returns the stored rows. Throws for a faulty file or refused data. */
export async function fillTable(
  client: pg.ClientBase,
  { name, columns }: { readonly name: string; readonly columns: readonly string[] },
  events: AsyncGenerator<BackupEvent>,
): Promise<number> {
  const stream = client.query(copyFrom(`copy ${name} (${columns.join(', ')}) from stdin`));
  const ended = finished(stream);
  // The awaiting code handles its failure; until then it must not count as unhandled.
  ended.catch(() => {});
  try {
    for (;;) {
      const { value: event } = await events.next();
      if (event?.type === 'data') {
        if (!stream.write(event.bytes)) await Promise.race([once(stream, 'drain'), ended]);
        continue;
      }
      if (event?.type !== 'table_end') throw new Error(`the rows of ${name} end with ${event?.type ?? 'nothing'}`);
      stream.end();
      await ended;
      if (stream.rowCount !== event.rows)
        throw damaged(`the database took ${stream.rowCount} of ${event.rows} rows of ${name}`);
      return event.rows;
    }
  } catch (error) {
    stream.destroy();
    throw error;
  }
}
