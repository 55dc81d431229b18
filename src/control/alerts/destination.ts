/** Where alerts go. */
import type { Sealed } from '../../keys/envelope.ts';

export type DestinationKind = 'webhook' | 'slack' | 'email';

export interface Destination {
  readonly accountId: number;
  readonly id: number;
  readonly name: string;
  readonly kind: DestinationKind;
  /** Of Slack a secret. */
  readonly address: string;
  /** Of webhooks: what they are signed with. */
  readonly secret: string | null;
  readonly createdAt: Date;
  readonly createdBy: string;
}

/** As it lies in the database. */
export interface StoredDestination extends Destination {
  /** Null: `address` and `secret` are as they are, since there was no key or there is no secret. */
  readonly seal: Sealed | null;
}
