/** Brings the seals of stored destinations up to date: those of before there was a key, and those of a former key. */
import type pg from 'pg';
import type { Sealed } from '../../keys/envelope.ts';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from '../store/pool.ts';
import { DESTINATION_COLUMNS } from './alert-store.ts';
import type { StoredDestination } from './destination.ts';
import { rewrapDestination, sealDestination } from './sealed-destination.ts';

type Stored = Pick<StoredDestination, 'id' | 'address' | 'secret'>;

async function store(client: pg.ClientBase, { id, address, secret }: Stored, seal: Sealed): Promise<void> {
  await client.query(
    `update alert_destinations set address = $2, secret = $3, key_name = $4, wrapped_key = decode($5, 'base64'),
       sealed = decode($6, 'base64') where id = $1`,
    [id, address, secret, seal.keyName, seal.wrappedKey, seal.sealed],
  );
}

/** Returns how many were in the clear. */
export function sealAllDestinations(pool: pg.Pool, key: Buffer): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredDestination>(
      `select ${DESTINATION_COLUMNS} from alert_destinations where sealed is null and kind <> 'email' for update`,
    );
    let count = 0;
    for (const row of rows) {
      const sealed = sealDestination(key, row);
      if (sealed.seal === null) continue;
      await store(client, sealed, sealed.seal);
      count += 1;
    }
    return count;
  });
}

/** Wraps all data keys with the first key. */
export function rewrapDestinations(
  pool: pg.Pool,
  accountId: number,
  keys: readonly Buffer[],
): Promise<{ readonly rewrapped: number; readonly left: number }> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<StoredDestination>(
      `select ${DESTINATION_COLUMNS} from alert_destinations where sealed is not null for update`,
    );
    let rewrapped = 0;
    for (const row of rows) {
      const seal = rewrapDestination(keys, row);
      if (seal === null) continue;
      rewrapped += 1;
      await store(client, row, seal);
    }
    const result = { rewrapped, left: rows.length - rewrapped };
    const subject = { kind: 'alert_destination', id: null };
    if (rows.length > 0)
      await noteChange(client, { accountId, action: 'credential.rotate_key', subject, after: result });
    return result;
  });
}
