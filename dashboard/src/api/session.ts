/** Who is signed in in this browser, in which account, and what that allows. The cookie itself is out of reach of scripts. */
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import { ApiError, getJson, sendJson } from './client.ts';
import { forgetHeld, holdSession, tellAccount, tellSignedOut } from './tab-session.ts';

export type Session = ApiAnswer<'get', '/session'>;
export type Role = Session['role'];
/** `operator`: whoever has the admin token. */
export type Least = Role | 'operator';

async function readSession(signal?: AbortSignal): Promise<Session> {
  const session = await getJson('/session', {}, signal);
  holdSession(session);
  return session;
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 60_000,
});

export const accountsQuery = queryOptions({
  queryKey: ['accounts'],
  queryFn: ({ signal }) => getJson('/accounts', {}, signal),
});

export const signInWaysQuery = queryOptions({
  queryKey: ['sign-in-ways'],
  queryFn: ({ signal }) => getJson('/sign-in-ways', {}, signal),
});

const ROLES: readonly Role[] = ['viewer', 'member', 'owner'];

/** The gateway decides; this only keeps what it would refuse from being shown. */
export function allows(session: Session, least: Least): boolean {
  if (session.kind === 'operator') return true;
  if (session.kind === 'link') return false;
  return least !== 'operator' && ROLES.indexOf(session.role) >= ROLES.indexOf(least);
}

/**
 * Known at once while nothing was refused: every navigation asks, and must not wait for the network. A session that was
 * read some time ago is read again meanwhile; whoever has been signed out is led to the sign-in by that, as by any
 * other refusal.
 */
export async function isSignedIn(queries: QueryClient): Promise<boolean> {
  const known = queries.getQueryState(sessionQuery.queryKey);
  if (known?.data !== undefined && !known.isInvalidated) {
    void queries.prefetchQuery(sessionQuery);
    return true;
  }
  try {
    await queries.fetchQuery(sessionQuery);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    // Not, or no more, in the account that the tab showed: it begins again with another.
    if (error instanceof ApiError && error.code === 'account_not_found') {
      location.reload();
      return true;
    }
    throw error;
  }
}

/** After a refusal nothing is known. */
export function forgetSession(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: sessionQuery.queryKey, refetchType: 'none' });
}

export type Proof =
  | { readonly code: string }
  | { readonly token: string }
  | { readonly person: string }
  | { readonly link: string }
  | { readonly email: string; readonly password: string };

/** Throws an ApiError with the reason. */
export async function signIn(proof: Proof): Promise<void> {
  forgetHeld();
  await sendJson('post', '/session', {}, proof);
}

export async function signOut(): Promise<void> {
  await sendJson('delete', '/session', {});
  tellSignedOut();
}

export function setPassword(password: string, current: string | null): Promise<null> {
  return sendJson('put', '/password', {}, { password, ...(current === null ? {} : { current }) });
}

/** Streams and downloads of a browser carry no header, so the choice is a cookie. All tabs are loaded anew with it. */
export function chooseAccount(id: number): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser yet
  document.cookie = `tollgate_account=${id}; path=/; max-age=31536000; samesite=strict`;
  tellAccount(id);
  location.assign('/');
}
