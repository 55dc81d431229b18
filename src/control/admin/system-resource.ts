/** The gateway's state: processes, records under way, database and what else an operator looks at first. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import { describeDatabase } from '../log/describe-database.ts';
import { formatAccounts } from './accounts-body.ts';
import type { AdminDeps } from './admin-deps.ts';
import { DATABASE_ANSWER_LIMIT_MS, withinLimit } from './database-answer.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, jsonAnswer } from './schemas.ts';
import {
  formatAccess,
  formatClock,
  formatFigures,
  formatProcess,
  formatRecords,
  formatTls,
  type Status,
  StatusBody,
} from './status-body.ts';

const DATABASE_DOWN = {
  state: 'down',
  version: null,
  size_bytes: null,
  calls: null,
  oldest_requested_at: null,
  search_days_waiting: null,
} as const;

async function readDatabaseStatus(deps: AdminDeps, accountId: number): Promise<Omit<Status['database'], 'problem'>> {
  const pool = deps.database();
  if (pool === null) return DATABASE_DOWN;
  try {
    const facts = await withinLimit(describeDatabase(pool, accountId, DATABASE_ANSWER_LIMIT_MS));
    return {
      state: 'up',
      version: facts.version,
      size_bytes: facts.sizeBytes,
      calls: facts.calls,
      oldest_requested_at: facts.oldestRequestedAt?.toISOString() ?? null,
      search_days_waiting: facts.searchDaysWaiting,
    };
  } catch (error) {
    deps.log.warn({ err: error }, 'the database does not answer');
    return DATABASE_DOWN;
  }
}

export const statusRoute = createRoute({
  method: 'get',
  path: '/api/v1/status',
  summary: 'Processes, database, records under way, version',
  responses: { 200: jsonAnswer(StatusBody, 'As of now; also while the database is down'), ...COMMON_ERRORS },
});

export function addSystemRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(statusRoute, async (c) => {
    const [supervisor, database, spool, jobsRunning, accounts, figures] = await Promise.all([
      deps.readSupervisorStatus(),
      readDatabaseStatus(deps, accountOf(c)),
      deps.readSpoolStatus(),
      deps.countRunningJobs(),
      deps.ledger.read(),
      deps.readBrakeAndAlertFigures(),
    ]);
    const startedAt = supervisor === null ? null : new Date(supervisor.startedAtMs).toISOString();
    return c.json(
      {
        version: deps.version,
        role: deps.role,
        base_url: deps.baseUrl,
        started_at: startedAt,
        processes: supervisor?.children.map(formatProcess) ?? [],
        restart: supervisor?.restart ?? null,
        database: { ...database, problem: deps.databaseProblem() },
        records: formatRecords(deps.ledger.readShipper()),
        spool:
          spool === null ? null : { bytes: spool.bytes, limit_bytes: spool.limitBytes, is_disk_low: spool.isDiskLow },
        accounts: accounts === null ? null : formatAccounts(accounts),
        jobs_running: jobsRunning,
        clock: formatClock(deps.nodes.clock()),
        price_version: deps.prices.book(accountOf(c)).version,
        access: formatAccess(deps.access.figures()),
        ...formatFigures(figures),
        tls: formatTls(supervisor),
        settings: [...deps.settings],
      },
      200,
    );
  });
}
