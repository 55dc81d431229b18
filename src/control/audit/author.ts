/**
 * Who makes the changes of a request. It follows the request by itself: no function on the way to a change passes it
 * on, so none can forget it. Outside of requests the gateway itself is the author.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { AuditEntry } from './audit-entry.ts';

export interface Author {
  readonly kind: AuditEntry['actor_kind'];
  readonly name: string;
  /** Network address; null without one. */
  readonly from: string | null;
}

interface Authorship {
  readonly read: () => Author;
  noted: number;
}

const GATEWAY: Author = { kind: 'process', name: 'the gateway', from: null };

const current = new AsyncLocalStorage<Authorship>();

/** Returns how many changes `work` has noted. The author is read at each: it is found out on the way. */
export async function asAuthor(read: () => Author, work: () => Promise<void>): Promise<number> {
  const authorship: Authorship = { read, noted: 0 };
  await current.run(authorship, work);
  return authorship.noted;
}

export function readAuthor(): Author {
  return current.getStore()?.read() ?? GATEWAY;
}

export function countNoted(): void {
  const authorship = current.getStore();
  if (authorship !== undefined) authorship.noted += 1;
}
