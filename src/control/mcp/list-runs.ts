/** Pages of runs. */
import { z } from 'zod';
import { type AskApi, askJson, pathOf, type ReadScope, scopedFilters, ToolError } from './ask-api.ts';
import { isOwnRun } from './own-run.ts';
import { defineTool } from './tool.ts';
import { Cursor, Filters, From, Limit, SearchText, To } from './tool-inputs.ts';
import { showFitting } from './tool-result.ts';

const SORTS = ['-ended_at', '-started_at', '-total_cost', '-duration_ms', '-calls', '-errors'] as const;

const Row = z
  .object({
    trace_id: z.string(),
    key_ids: z.array(z.number()),
    calls: z.number(),
    open_calls: z.number(),
    started_at: z.string(),
    ended_at: z.string(),
  })
  .loose();
const Page = z.object({ data: z.array(Row), next_cursor: z.string().nullable(), searched_to: z.string().nullable() });

/** The pictures of the dashboard's list, which are of no use in words. */
function withoutShapes({ shape: _, shape_errors: __, ...row }: z.infer<typeof Row>): object {
  return row;
}

/** Sums of a run with calls of other keys would tell of these. */
async function hideOthers(row: z.infer<typeof Row>, ask: AskApi, scope: ReadScope): Promise<object> {
  if (await isOwnRun(ask, scope, row)) return withoutShapes(row);
  return { trace_id: row.trace_id, note: 'It has calls of other keys as well: get_run and explain_cost show yours.' };
}

interface Question {
  readonly filters?: readonly string[] | undefined;
  readonly search?: string | undefined;
  readonly sort: string;
}

const TIME_SORTS: readonly string[] = ['-ended_at', '-started_at'];
/** What is shown of every run. */
const OPEN_FILTER = /^run\.(?:trace_id|started_at|ended_at):/;

/** Which runs are found, and in which order, would tell what a run has of other keys. */
function refuseOthers({ filters = [], search, sort }: Question): void {
  const refuse = (what: string, instead: string): never => {
    throw new ToolError(
      `key_token: This token is of one gateway key, and a run may have calls of others: ${what}; ${instead}.`,
    );
  };
  if (!TIME_SORTS.includes(sort)) refuse(`sort by ${TIME_SORTS.join(' or ')}`, 'get_costs says what cost most');
  if (search !== undefined)
    refuse('it cannot search runs', 'search_calls or list_calls finds your calls, with their trace_id');
  const filter = filters.find((one) => one.startsWith('run.') && !OPEN_FILTER.test(one));
  if (filter !== undefined)
    refuse(
      `${JSON.stringify(filter.slice(0, 100))} is about all of a run`,
      'filter by columns of a call, or ask list_calls or get_costs',
    );
}

/** Undefined for a first page. */
function openCursor(cursor: string | undefined, { keyIds, cursors }: ReadScope): string | undefined {
  if (cursor === undefined || keyIds === null) return cursor;
  const opened = cursors.open(cursor);
  if (opened === null)
    throw new ToolError(
      'invalid_cursor: This cursor is not one of this list, or another node has made it: ask for the first page again.',
    );
  return opened;
}

export const listRuns = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description:
    'Runs: calls with one trace id, such as a session of a coding agent, with cost in US dollars as decimal text, tokens, errors and time. While unpriced_calls is not 0, total_cost means at least. While next_cursor is not null there is more: ask again with it as cursor. A token of one gateway key sorts by time only, and neither searches runs nor filters by their sums.',
  input: z.strictObject({
    filters: Filters.describe(
      'All must hold. run.column:op:value is about the run: trace_id, state (running, errors, client_closed, ok), calls, errors, total_cost, duration_ms, started_at, ended_at. Any other filter is as in list_calls, and one call of the run must match all of these',
    ),
    search: SearchText.optional().describe('Text in the trace id, or in the span name of a call'),
    from: From.describe('Latest activity at or after this time (RFC 3339 with a zone)'),
    to: To.describe('Latest activity before this time (RFC 3339 with a zone)'),
    sort: z.enum(SORTS).default('-ended_at'),
    limit: Limit,
    cursor: Cursor,
  }),
  run: ({ filters, search, limit, cursor, ...rest }, ask, scope) => {
    if (scope.keyIds !== null) refuseOthers({ filters, search, sort: rest.sort });
    const after = openCursor(cursor, scope);
    return showFitting(limit, async (rows) => {
      const fields = { ...rest, q: search, cursor: after, limit: rows };
      const page = await askJson(ask, Page, pathOf('/api/v1/runs', fields, scopedFilters(scope, filters)));
      const { next_cursor: next } = page;
      const data: object[] = [];
      for (const row of page.data) data.push(await hideOthers(row, ask, scope));
      return { ...page, data, next_cursor: next === null || scope.keyIds === null ? next : scope.cursors.seal(next) };
    });
  },
});
