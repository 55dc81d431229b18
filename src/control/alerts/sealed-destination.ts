/** The secret of a destination in its envelope: what webhooks are signed with, and the whole address of Slack. */
import { type Binding, openText, rewrapText, type Sealed, sealText } from '../../keys/envelope.ts';
import type { Destination, StoredDestination } from './destination.ts';

type Place = Pick<Destination, 'accountId' | 'kind' | 'address'>;

/** The address of a webhook as well, so nobody has its messages signed for another receiver by editing the row. */
function bind({ accountId, kind, address }: Place): Binding {
  return ['tollgate alert destination 1', accountId, kind, address];
}

/** What may be shown of where it goes. */
export function showAddress({ kind, address }: Pick<Destination, 'kind' | 'address'>): string {
  return kind === 'slack' ? `https://${URL.parse(address)?.host ?? ''}/…` : address;
}

/** Without a key it is kept as it is. */
export function sealDestination<Given extends Omit<Destination, 'id' | 'createdAt'>>(
  key: Buffer | undefined,
  given: Given,
): Given & Pick<StoredDestination, 'seal'> {
  const secret = given.kind === 'slack' ? given.address : given.secret;
  if (key === undefined || secret === null) return { ...given, seal: null };
  const shown = { ...given, address: showAddress(given), secret: null };
  return { ...shown, seal: sealText(key, bind(shown), secret) };
}

/** Null when none of the keys opens it. */
export function openDestination(keys: readonly Buffer[], { seal, ...stored }: StoredDestination): Destination | null {
  if (seal === null) return stored;
  const secret = openText(keys, bind(stored), seal);
  if (secret === null) return null;
  return stored.kind === 'slack' ? { ...stored, address: secret } : { ...stored, secret };
}

export function rewrapDestination(keys: readonly Buffer[], { seal, ...stored }: StoredDestination): Sealed | null {
  return seal === null ? null : rewrapText(keys, bind(stored), seal);
}
