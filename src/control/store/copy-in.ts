import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

export async function copyIn(client: pg.ClientBase, statement: string, data: Buffer | string): Promise<void> {
  const stream = client.query(copyFrom(statement));
  stream.end(data);
  await finished(stream);
}
