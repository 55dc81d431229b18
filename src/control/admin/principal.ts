/** Who asks, for which account, and what that allows. The guard finds it out once for each request. */
import type { Context } from 'hono';
import type { SharedPage } from '../store/share-links.ts';

export const ACCOUNT_HEADER = 'x-tollgate-account';

/** Each may what those before it may. */
export const ROLES = ['viewer', 'member', 'owner'] as const;
export type Role = (typeof ROLES)[number];

export const SCOPES = ['read', 'bodies', 'keys', 'prices', 'manage'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Principal {
  /** The operator (admin token, or a session that it opened) may everything in every account. */
  readonly kind: 'operator' | 'person' | 'token' | 'link';
  /** For the audit trail: an address, or the name of a token or share link; `operator`. */
  readonly name: string;
  /** Of the person, token or link; null for the operator. */
  readonly id: number | null;
  readonly accountId: number;
  readonly role: Role;
  /** Of a token, which has these alone; none of a link; null: the role decides. */
  readonly scopes: readonly Scope[] | null;
  /** Whether the text of prompts and answers may be read and searched. */
  readonly mayReadBodies: boolean;
  /** What a link shows, and nothing else. */
  readonly view: SharedView | null;
}

export interface SharedView {
  readonly page: SharedPage;
  /** A query of the API. */
  readonly parameters: string;
  readonly expiresAt: Date;
}

declare module 'hono' {
  interface ContextVariableMap {
    principal: Principal;
  }
}

export function principalOf(c: Context): Principal {
  const principal = c.get('principal');
  if (principal === undefined) throw new Error('a public route asked who asks');
  return principal;
}

export function accountOf(c: Context): number {
  return principalOf(c).accountId;
}

export function isOperator(c: Context): boolean {
  return principalOf(c).kind === 'operator';
}

export function operatorOf(accountId: number): Principal {
  return {
    kind: 'operator',
    name: 'operator',
    id: null,
    accountId,
    role: 'owner',
    scopes: null,
    mayReadBodies: true,
    view: null,
  };
}
