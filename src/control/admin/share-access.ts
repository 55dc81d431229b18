/**
 * What a browser that came by a share link may ask: the routes that its page needs, and of them its own run or view alone.
 * Whatever is not written here is refused.
 */

import type { Context, MiddlewareHandler } from 'hono';
import { type SqlBool, sql } from 'kysely';
import { isUuid, requestedAtOf } from '../../vocabulary/uuid.ts';
import { logConditions } from '../log/log-scope.ts';
import { readPromotedKeys } from '../log/promoted-keys.ts';
import { readLog } from '../log/read-log.ts';
import { allOf, compileSql } from '../log/run-sql.ts';
import type { SharedPage } from '../store/share-links.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import type { Principal, SharedView } from './principal.ts';
import { LogScopeQuery, logScopeOf } from './scope-parameters.ts';

interface SharedRoute {
  /** These must be as the link has them. */
  readonly own: readonly string[];
  /** These may be anything: they choose no other calls. */
  readonly free: readonly string[];
}

const LOG_SCOPE = ['f', 'q', 'exclude_runs', 'from', 'to'] as const;
const RUN_SCOPE = ['f', 'q', 'from', 'to'] as const;

const ROUTES: Readonly<Record<SharedPage, Readonly<Record<string, SharedRoute>>>> = {
  run: {
    '/api/v1/run': { own: ['trace_id'], free: [] },
    '/api/v1/run/calls': { own: ['trace_id'], free: ['columns', 'cursor', 'limit'] },
    '/api/v1/run/stream': { own: ['trace_id'], free: ['after'] },
  },
  logs: {
    '/api/v1/logs': { own: LOG_SCOPE, free: ['sort', 'fields', 'cursor', 'limit'] },
    '/api/v1/logs/summary': { own: LOG_SCOPE, free: ['interval', 'wait_ms'] },
  },
  runs: {
    '/api/v1/runs': { own: RUN_SCOPE, free: ['sort', 'cursor', 'limit'] },
    '/api/v1/runs/summary': { own: RUN_SCOPE, free: ['interval', 'wait_ms'] },
  },
  costs: {
    '/api/v1/costs': { own: ['f', 'from', 'to', 'group_by'], free: ['interval', 'tz', 'limit', 'wait_ms'] },
  },
};

/** A single call, of a run or among the calls of a view. */
const CALL = /^\/api\/v1\/logs\/([^/]+)(?:\/(?:request|response|revisions))?$/;
/** Who asks, and the end of the visit. */
const SELF: readonly string[] = ['GET /api/v1/session', 'DELETE /api/v1/session'];

export const SHARE_FORBIDDEN = new ApiError(
  403,
  'forbidden',
  'This link shows one page and nothing else. Whoever gave it to you can share more.',
);

function idOfCall(path: string): string | null {
  const id = CALL.exec(path)?.[1] ?? '';
  return isUuid(id) ? id : null;
}

/** Whether the page of the link has any use for the route; `keepToShare` then looks at what is asked of it. */
export function isSharedRoute({ page }: SharedView, method: string, path: string): boolean {
  if (SELF.includes(`${method} ${path}`)) return true;
  if (method !== 'GET') return false;
  if (ROUTES[page][path] !== undefined) return true;
  return (page === 'run' || page === 'logs') && idOfCall(path) !== null;
}

/** Times in another notation are the same; the usual value of a parameter is as none. */
function normalise(name: string, value: string): readonly string[] {
  if (value === '' || (name === 'exclude_runs' && value === 'false')) return [];
  const isTime = name === 'from' || name === 'to';
  return [`${name}=${isTime ? Date.parse(value) : value}`];
}

function ownOf(parameters: URLSearchParams, own: readonly string[]): string {
  const texts = [...parameters]
    .filter(([name]) => own.includes(name))
    .flatMap(([name, value]) => normalise(name, value));
  return texts.toSorted().join('\n');
}

function isOwnQuestion(view: SharedView, route: SharedRoute, asked: URLSearchParams): boolean {
  const known = [...route.own, ...route.free];
  if (![...asked.keys()].every((name) => known.includes(name))) return false;
  return ownOf(asked, route.own) === ownOf(new URLSearchParams(view.parameters), route.own);
}

async function isOwnCall(deps: AdminDeps, accountId: number, view: SharedView, id: string): Promise<boolean> {
  const pool = requireDatabase(deps);
  const parameters = new URLSearchParams(view.parameters);
  if (view.page === 'run') {
    const call = await readLog(pool, accountId, id);
    return call !== null && call.trace_id === parameters.get('trace_id');
  }
  const scope = logScopeOf(
    accountId,
    LogScopeQuery.parse({ ...Object.fromEntries(parameters), f: parameters.getAll('f') }),
  );
  const where = allOf([
    sql<SqlBool>`id = ${id} and requested_at = ${requestedAtOf(id)}`,
    ...logConditions(scope, await readPromotedKeys(pool, accountId)),
  ]);
  const { text, values } = compileSql(sql`select from llm_requests where ${where}`);
  const { rowCount } = await pool.query(text, values);
  return rowCount === 1;
}

/** Routes read their query in one of two ways; whatever these make of an odd one, each must be of the link. */
function listReadings(c: Context): readonly URLSearchParams[] {
  const byName = Object.entries(c.req.queries()).flatMap(([name, values]) => values.map((value) => [name, value]));
  return [new URL(c.req.url).searchParams, new URLSearchParams(byName)];
}

async function isOwn(c: Context, deps: AdminDeps, { accountId }: Principal, view: SharedView): Promise<boolean> {
  const { path } = c.req;
  if (path === '/api/v1/session') return true;
  const route = ROUTES[view.page][path];
  if (route !== undefined) return listReadings(c).every((asked) => isOwnQuestion(view, route, asked));
  const id = idOfCall(path);
  return id !== null && isOwnCall(deps, accountId, view, id);
}

/** Comes behind the wall of the account. */
export function keepToShare(deps: AdminDeps): MiddlewareHandler {
  return async (c, next) => {
    const principal: Principal | undefined = c.get('principal');
    if (principal?.kind !== 'link') return next();
    const { view } = principal;
    if (view === null || !(await isOwn(c, deps, principal, view))) throw SHARE_FORBIDDEN;
    return next();
  };
}
