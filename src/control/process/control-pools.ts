/** The control process's database pools, one for each kind of work, so that none waits for another. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { NodeRole } from '../../vocabulary/config.ts';
import { openPool } from '../store/pool.ts';

const API_CONNECTIONS = 10;
/** A node without an API watches keys and prices, and serves its health and figures. */
const PROXY_NODE_CONNECTIONS = 2;
const API_STATEMENT_TIMEOUT_MS = 30_000;
/** One for the shipper, one to spare for a migration. */
const SHIPPER_CONNECTIONS = 2;
const SHIPPER_STATEMENT_TIMEOUT_MS = 60_000;
/** A body may come over a slow line. */
const ESTIMATES_STATEMENT_TIMEOUT_MS = 300_000;
/** A day of many runs takes long; records wait in the spool meanwhile. */
const RETENTION_STATEMENT_TIMEOUT_MS = 600_000;

export interface ControlPools {
  readonly api: pg.Pool;
  readonly shipper: pg.Pool;
  readonly retention: pg.Pool;
  readonly estimates: pg.Pool;
  readonly presence: pg.Pool;
  /** Does not wait for connections that hang. */
  readonly end: () => void;
}

export function openControlPools(connectionString: string, role: NodeRole, log: Logger): ControlPools {
  const open = (work: string, max: number, statementTimeoutMs: number): pg.Pool =>
    openPool({
      connectionString,
      max,
      statementTimeoutMs,
      applicationName: `tollgate ${work}`,
      onIdleError: (error) => log.debug({ err: error }, 'an idle database connection broke'),
    });
  const pools = {
    api: open('admin', role === 'proxy' ? PROXY_NODE_CONNECTIONS : API_CONNECTIONS, API_STATEMENT_TIMEOUT_MS),
    shipper: open('shipper', SHIPPER_CONNECTIONS, SHIPPER_STATEMENT_TIMEOUT_MS),
    retention: open('retention', 1, RETENTION_STATEMENT_TIMEOUT_MS),
    estimates: open('estimates', 1, ESTIMATES_STATEMENT_TIMEOUT_MS),
    presence: open('node', 1, API_STATEMENT_TIMEOUT_MS),
  };
  return {
    ...pools,
    end: () => void Promise.allSettled(Object.values(pools).map((pool) => pool.end())),
  };
}
