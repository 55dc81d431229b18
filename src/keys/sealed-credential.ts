/** A provider's credential in its envelope: bound to whose it is and to where it may be sent. */
import type { SealedCredential } from '../vocabulary/channel.ts';
import { type Binding, canOpenText, openText, rewrapText, type Sealed, sealText } from './envelope.ts';

/** What a credential is bound to. */
export type CredentialPlace = Pick<SealedCredential, 'accountId' | 'provider' | 'alias' | 'origin'>;

function bind({ accountId, provider, alias, origin }: CredentialPlace): Binding {
  return ['tollgate credential 1', accountId, provider, alias, origin];
}

/** `key` is the operator's. */
export function sealCredential(key: Buffer, place: CredentialPlace, credential: string): Sealed {
  return sealText(key, bind(place), credential);
}

/** Null when none of the keys opens it. */
export function openCredential(keys: readonly Buffer[], stored: SealedCredential): string | null {
  return openText(keys, bind(stored), stored);
}

/** Without knowing it afterwards. */
export function canOpenCredential(keys: readonly Buffer[], stored: SealedCredential): boolean {
  return canOpenText(keys, bind(stored), stored);
}

/** The same data key, wrapped by the first key; null when none of the keys opens it. */
export function rewrapCredential(keys: readonly Buffer[], stored: SealedCredential): Sealed | null {
  return rewrapText(keys, bind(stored), stored);
}
