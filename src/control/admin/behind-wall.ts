/** Which account the request under way asks the database for, behind the wall of `store/account-wall.ts`. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { MiddlewareHandler } from 'hono';
import type pg from 'pg';
import { openWalledPool } from '../store/walled-pool.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import type { Principal } from './principal.ts';

const current = new AsyncLocalStorage<number>();

export function behindWall<T>(accountId: number, work: () => T): T {
  return current.run(accountId, work);
}

/** The operator is the owner of all accounts; the wall would keep nothing from them. */
export function raiseWall(): MiddlewareHandler {
  return (c, next) => {
    const principal: Principal | undefined = c.get('principal');
    return principal === undefined || principal.kind === 'operator' ? next() : behindWall(principal.accountId, next);
  };
}

/** What a resource gets as the database: behind the wall of its request. */
export function wallDatabase({ database, wallRole }: Pick<AdminDeps, 'database' | 'wallRole'>): AdminDeps['database'] {
  const pools = new WeakMap<pg.Pool, Map<string, pg.Pool>>();
  return () => {
    const pool = database();
    const accountId = current.getStore();
    const role = wallRole();
    if (pool === null || accountId === undefined || role === null) return pool;
    const byWall = pools.get(pool) ?? new Map<string, pg.Pool>();
    pools.set(pool, byWall);
    const key = `${accountId} ${role.role}`;
    const walled = byWall.get(key) ?? openWalledPool(pool, { ...role, accountId });
    byWall.set(key, walled);
    return walled;
  };
}

/** For people, who may belong to several accounts, and for what all accounts share in this process. */
export function requireWholeDatabase(deps: Pick<AdminDeps, 'database'>): pg.Pool {
  return current.exit(() => requireDatabase(deps));
}
