/** A connection outside every pool for long work, closed when that is done. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CONNECT_TIMEOUT_MS, type ConnectionAddress, connectionConfig, pinSettings } from './connection.ts';

/** For a network that swallows packets. */
const CLOSE_LIMIT_MS = 2_000;

/** Leaves the server's settings except its limit for answers. The caller closes it. */
export async function openBareConnection(address: ConnectionAddress): Promise<pg.Client> {
  const client = await connect({ ...connectionConfig(address), query_timeout: CONNECT_TIMEOUT_MS });
  await client.query('set statement_timeout = 0');
  return client;
}

async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config);
  // A break between two queries shows here; the next query then fails.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Without time limits. The caller closes it. */
export async function openSingleConnection(address: ConnectionAddress): Promise<pg.Client> {
  const client = await connect(connectionConfig(address));
  try {
    await pinSettings(client, 0);
  } catch (error) {
    await closeConnection(client);
    throw error;
  }
  return client;
}

/** Works even during a query, whose transaction is rolled back. */
export async function closeConnection(client: pg.Client): Promise<void> {
  await Promise.race([client.end().catch(() => {}), sleep(CLOSE_LIMIT_MS, undefined, { ref: false })]);
}
