/** The gateway key of a client that was set up. Its text says whose it is: an id is another key's at another gateway. */
import { keyHints } from '../../keys/gateway-key.ts';
import { messageOf } from '../../vocabulary/errors.ts';
import { AnyRecord, type ApiRecord, type GatewayClient, RecordList } from '../gateway-client.ts';
import type { SetupClient } from './setup-client.ts';
import type { SetupRecord } from './setup-record.ts';

export interface ChosenKey {
  readonly text: string;
  /** Of a key that was made for the client; null for one of the user's. */
  readonly id: number | null;
}

export function keyOf({ key, key_id }: SetupRecord): ChosenKey {
  return { text: key, id: key_id };
}

/** As the asked gateway has it; null where it is none of its keys. */
async function findKey(gateway: GatewayClient, { text, id }: ChosenKey): Promise<ApiRecord | null> {
  const { data } = await gateway.ask(RecordList, '/api/v1/keys');
  const { prefix, last4 } = keyHints(text);
  const isIt = (key: ApiRecord) => key['prefix'] === prefix && key['last4'] === last4;
  return data.find((key) => isIt(key) && key['id'] === id) ?? null;
}

/** The key that was made before; null where it is of no use to the asked gateway, or to this client there. */
export async function keepKey(
  gateway: GatewayClient,
  { hasKeyInAddress }: Pick<SetupClient, 'hasKeyInAddress'>,
  record: SetupRecord,
): Promise<ChosenKey | null> {
  const found = await findKey(gateway, keyOf(record));
  if (found === null || found['revoked_at'] !== null) return null;
  const expiresAt = found['expires_at'];
  if (typeof expiresAt === 'string' && Date.parse(expiresAt) <= Date.now()) return null;
  return hasKeyInAddress !== true || found['allow_in_address'] === true ? keyOf(record) : null;
}

export interface EndedKey {
  readonly isRevoked: boolean;
  /** For the user. */
  readonly text: string;
}

/**
 * A key that was made for a client is of no use any more; null for one of the user's, which stays. `address`: of the gateway
 * that it was made at. Never throws.
 */
export async function revokeMadeKey(
  find: () => GatewayClient,
  key: ChosenKey,
  address: string | undefined,
): Promise<EndedKey | null> {
  const { id } = key;
  if (id === null) return null;
  const still = `Key ${id}, which was made for it, is still valid`;
  try {
    const gateway = find();
    if ((await findKey(gateway, key)) === null)
      return {
        isRevoked: false,
        text: `${still}: it is a key of ${address ?? 'another gateway'}, which was not asked. There \`tollgate keys revoke ${id}\` ends it.`,
      };
    await gateway.ask(AnyRecord, `/api/v1/keys/${id}`, { method: 'DELETE' });
    return { isRevoked: true, text: `Key ${id}, which was made for it, is revoked.` };
  } catch (error) {
    return { isRevoked: false, text: `${still}: ${messageOf(error)}. \`tollgate keys revoke ${id}\` ends it.` };
  }
}
