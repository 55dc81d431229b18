/**
 * A connection outside of every pool, for long work that is alone on it, and that is done when the connection is
 * closed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CONNECT_TIMEOUT_MS, type ConnectionAddress, connectionConfig, pinSettings } from './connection.ts';

/** For a network that swallows packets. */
const CLOSE_LIMIT_MS = 2_000;

/** As the server gives it out, but for the limit of every answer. The caller closes it. */
export async function openBareConnection(address: ConnectionAddress): Promise<pg.Client> {
  const client = await connect({ ...connectionConfig(address), query_timeout: CONNECT_TIMEOUT_MS });
  // Our own limit counts.
  await client.query('set statement_timeout = 0');
  return client;
}

async function connect(config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config);
  // One that breaks between two questions says so here; the next question then fails, and that is handled.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Without limits of time. The caller closes it. */
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

/** Also in the middle of a question: what its transaction did is undone then. */
export async function closeConnection(client: pg.Client): Promise<void> {
  await Promise.race([client.end().catch(() => {}), sleep(CLOSE_LIMIT_MS, undefined, { ref: false })]);
}
