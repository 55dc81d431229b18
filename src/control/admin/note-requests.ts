/**
 * Says who makes the changes of a request, and sees that each successful request that may change something has its row
 * in the audit log: the change itself writes one in its own transaction; where it has none, as a restart, it is
 * written here.
 */
import type { Context, MiddlewareHandler } from 'hono';
import type { Author } from '../audit/author.ts';
import { asAuthor } from '../audit/author.ts';
import { noteChange } from '../audit/note-change.ts';
import { FIRST_ACCOUNT_ID } from '../store/accounts.ts';
import { isDatabaseDown } from '../store/database-error.ts';
import { inTransaction } from '../store/pool.ts';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { AUDIT_ACTIONS } from './audit-actions.ts';
import { MCP_PATH } from './guard.ts';
import { readPeer } from './peer.ts';
import type { Principal } from './principal.ts';
import { readActor } from './read-actor.ts';

const WINDOW_MS = 60_000;
/** Refused sign-ins of a window that have rows; a flood must not fill the log, so the rest is counted. */
const MAX_REFUSALS = 20;

/** A sign-in by the identity provider, which ends with a redirect also where it is refused. */
export interface RefusedSignIn {
  readonly code: string;
  /** As the provider has it; null when it named nobody who could be believed. */
  readonly email: string | null;
}

declare module 'hono' {
  interface ContextVariableMap {
    refusedSignIn: RefusedSignIn;
  }
}

interface NotedRoute {
  readonly pattern: RegExp;
  readonly action: string | null;
}

const ROUTES: readonly NotedRoute[] = Object.entries(AUDIT_ACTIONS).map(([line, action]) => {
  const parts = line.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'));
  return { pattern: new RegExp(`^${parts.join('([^/]+)')}$`), action };
});

/** Null for a request that changes nothing. */
function findAction(line: string): { readonly action: string; readonly id: string | null } | null {
  for (const { pattern, action } of ROUTES) {
    const [found, id] = pattern.exec(line) ?? [];
    if (found !== undefined) return action === null ? null : { action, id: id === undefined ? null : readId(id) };
  }
  if (line.startsWith('GET ') || !line.includes(' /api/')) return null;
  return { action: `request ${line}`, id: null };
}

function readId(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function readAuthorOf(c: Context): Author {
  const { client: from } = readPeer(c.env);
  const principal: Principal | undefined = c.get('principal');
  if (principal === undefined) return { kind: 'nobody', name: 'not signed in', from };
  return { kind: principal.kind === 'link' ? 'nobody' : principal.kind, name: readActor(c), from };
}

export function noteRequests(deps: AdminDeps): MiddlewareHandler {
  const isRefusalNoted = limitRefusals(deps.nowMs);

  async function note(c: Context, author: Author, action: string, id: string | null, after: object): Promise<void> {
    const pool = deps.database();
    if (pool === null) return;
    const principal: Principal | undefined = c.get('principal');
    const accountId = principal?.accountId ?? FIRST_ACCOUNT_ID;
    const [kind = action] = action.split(/[. ]/);
    try {
      await inTransaction(pool, (client) =>
        noteChange(client, { accountId, action, subject: { kind, id }, after, author }),
      );
    } catch (error) {
      if (isDatabaseDown(error)) return;
      deps.log.error({ err: error, action, route: c.req.path }, 'a request could not be noted in the audit log');
    }
  }

  async function noteRefusal(c: Context, after: object): Promise<void> {
    const unnoted = isRefusalNoted();
    if (unnoted === null) return;
    const author: Author = { kind: 'nobody', name: 'not signed in', from: readPeer(c.env).client };
    await note(c, author, 'session.refused', null, { ...after, not_noted_before: unnoted });
  }

  return async (c, next) => {
    const line = `${c.req.method === 'HEAD' ? 'GET' : c.req.method} ${c.req.path}`;
    const found = findAction(line);
    const read = () => readAuthorOf(c);
    const noted = await asAuthor(read, next);
    const { status } = c.res;
    const refused: RefusedSignIn | undefined = c.get('refusedSignIn');
    if (refused !== undefined) await noteRefusal(c, { ...refused });
    else if (status === 401 || status === 429) {
      const tried = line === 'POST /api/v1/session' || c.req.header('authorization') !== undefined;
      if (!tried || c.req.path === MCP_PATH) return;
      await noteRefusal(c, { code: c.error instanceof ApiError ? c.error.code : null });
    } else if (found !== null && noted === 0 && status < 400) {
      const isOperator = found.action === 'session.begin';
      const author: Author = isOperator ? { ...read(), kind: 'operator', name: 'the operator' } : read();
      await note(c, author, found.action, found.id, { status });
    }
  };
}

/** Returns how many refusals before it have no row; null for one that gets none. */
function limitRefusals(nowMs: () => number): () => number | null {
  let since = Number.NEGATIVE_INFINITY;
  let count = 0;
  let unnoted = 0;
  return () => {
    if (nowMs() - since >= WINDOW_MS) [since, count] = [nowMs(), 0];
    count += 1;
    if (count > MAX_REFUSALS) {
      unnoted += 1;
      return null;
    }
    const told = unnoted;
    unnoted = 0;
    return told;
  };
}
