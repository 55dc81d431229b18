/** Exports over HTTP: all rows of a question, streamed from one snapshot as CSV or JSON lines. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { type ExportQuery, exportCalls, exportRuns } from '../log/export-query.ts';
import { RUN_SORTS } from '../log/list-runs.ts';
import { LOG_SORTS } from '../log/log-order.ts';
import { openRowCursor } from '../log/open-row-cursor.ts';
import { type PromotedKeys, readPromotedKeys } from '../log/promoted-keys.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { bindingsOf } from './bindings-of.ts';
import { createExportFormat } from './export-format.ts';
import { parseQuery } from './parse-query.ts';
import { accountOf } from './principal.ts';
import { createPulledStream, describeFailure } from './pulled-stream.ts';
import { COMMON_ERRORS, errorAnswer, FilterParameter, TimeParameter, TraceIdParameter } from './schemas.ts';
import { logScopeOf, runScopeOf, searchParameter } from './scope-parameters.ts';

/** Each holds one of the API's ten connections. */
const MAX_EXPORTS = 3;
const ROWS_PER_PIECE = 500;
/** A client that reads nothing would hold a connection. */
const STALL_LIMIT_MS = 60_000;
const MAX_COLUMNS_CHARS = 16_384;

const Query = z.strictObject({
  kind: z.enum(['logs', 'runs', 'run']).describe('Calls, runs, or the calls of one run'),
  format: z.enum(['csv', 'ndjson']).default('csv'),
  f: FilterParameter.describe('As of the list of calls, or for `runs` of the list of runs'),
  q: searchParameter('what the list of this kind looks into'),
  from: TimeParameter.optional(),
  to: TimeParameter.optional(),
  exclude_runs: z.enum(['true', 'false']).optional().describe('Only for `logs`'),
  sort: z.string().optional().describe('As of the list of this kind; a run is in time order by default'),
  columns: z
    .string()
    .max(MAX_COLUMNS_CHARS)
    .optional()
    .describe('Names with commas, in this order; all by default. Of calls also `metadata.Key`, with commas as %2C'),
  trace_id: TraceIdParameter.optional().describe('Only for `run`, which needs it'),
});
type Query = z.infer<typeof Query>;

function refuse(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message);
}

function sortOf<S extends string>(sorts: readonly S[], sort: string | undefined, usual: S): S {
  if (sort === undefined) return usual;
  const known = sorts.find((name) => name === sort);
  if (known === undefined) throw refuse(`sort: one of ${sorts.join(', ')}`);
  return known;
}

function columnsOf(columns: string | undefined): readonly string[] | null {
  if (columns === undefined) return null;
  try {
    return columns.split(',').map(decodeURIComponent);
  } catch {
    throw refuse('columns: a "%" is written %25.');
  }
}

function exportQueryOf(accountId: number, query: Query, promoted: PromotedKeys): ExportQuery {
  const { kind, trace_id, exclude_runs, f, q, from, to } = query;
  if ((kind === 'run') !== (trace_id !== undefined)) throw refuse('trace_id belongs to kind=run, which needs it.');
  if (kind !== 'logs' && exclude_runs !== undefined) throw refuse('exclude_runs is only for kind=logs.');
  const columns = columnsOf(query.columns);
  const scope = { f, q, from, to };
  if (kind === 'runs')
    return exportRuns(runScopeOf(accountId, scope), promoted, sortOf(RUN_SORTS, query.sort, '-ended_at'), columns);
  const calls = logScopeOf(accountId, { ...scope, exclude_runs: exclude_runs ?? 'false' });
  const sort = sortOf(LOG_SORTS, query.sort, kind === 'run' ? 'requested_at' : '-requested_at');
  return exportCalls(calls, promoted, trace_id ?? null, sort, columns);
}

export function addExportRoute(app: OpenAPIHono, deps: AdminDeps): void {
  let exports = 0;
  const route = createRoute({
    method: 'get',
    path: '/api/v1/export',
    summary: 'All rows at once, of one moment; an export that fails breaks the connection off instead of ending',
    request: { query: Query },
    responses: {
      200: {
        description:
          'CSV with a first line of names, where an apostrophe stands before text that a spreadsheet would read as a formula; or JSON, one object a line',
        content: { 'text/csv': { schema: z.string() }, 'application/x-ndjson': { schema: z.string() } },
      },
      429: errorAnswer('Too many exports at a time'),
      ...COMMON_ERRORS,
    },
  });
  app.openAPIRegistry.registerPath(route);
  app.get('/api/v1/export', async (c) => {
    const query = parseQuery(c.req.url, Query);
    const pool = requireDatabase(deps);
    const plan = exportQueryOf(accountOf(c), query, await readPromotedKeys(pool, accountOf(c)));
    const format = createExportFormat(query.format, plan.columns);
    const { outgoing } = bindingsOf(c.env);
    if (exports >= MAX_EXPORTS)
      throw new ApiError(429, 'too_many_exports', `At most ${MAX_EXPORTS} exports are served at a time.`);
    exports += 1;
    const leave = (): void => {
      exports -= 1;
    };
    try {
      const cursor = await openRowCursor(pool, plan.query, ROWS_PER_PIECE);
      // A wrong question fails here, before the status is sent.
      const first = await cursor.next();
      // The next piece to hand on; null before it is read.
      let waiting: typeof first | null = first;
      const encoder = new TextEncoder();
      const stream = createPulledStream({
        head: encoder.encode(format.head),
        next: async () => {
          const rows = waiting ?? (await cursor.next());
          waiting = null;
          return rows.length === 0 ? null : encoder.encode(format.toLines(rows.map(plan.toRecord)));
        },
        stallLimitMs: STALL_LIMIT_MS,
        destroy: () => outgoing.destroy(),
        onEnd: (failure) => {
          cursor.close();
          leave();
          if (failure !== null && failure.kind !== 'client-gone')
            deps.log.error({ ...describeFailure(failure), kind: query.kind }, 'an export broke off');
        },
      });
      return c.body(stream, 200, {
        'content-type': format.contentType,
        'content-disposition': `attachment; filename="tollgate-${query.kind}.${query.format}"`,
        'cache-control': 'no-store',
      });
    } catch (error) {
      leave();
      throw error;
    }
  });
}
