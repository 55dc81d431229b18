/** Pages of runs. */
import { z } from 'zod';
import { askJson, pathOf, type ReadScope, scopedFilters } from './ask-api.ts';
import { defineTool } from './tool.ts';
import { Cursor, Filters, From, Limit, SearchText, To } from './tool-inputs.ts';
import { showPage } from './tool-result.ts';

const SORTS = ['-ended_at', '-started_at', '-total_cost', '-duration_ms', '-calls', '-errors'] as const;

const Row = z.object({ trace_id: z.string(), key_ids: z.array(z.number()) }).loose();
const Page = z.object({ data: z.array(Row), next_cursor: z.string().nullable(), searched_to: z.string().nullable() });

/** The pictures of the dashboard's list, which are of no use in words. */
function withoutShapes({ shape: _, shape_errors: __, ...row }: z.infer<typeof Row>): object {
  return row;
}

/** Sums of a run with calls of other keys would tell of these. */
function hideOthers(row: z.infer<typeof Row>, { keyId }: ReadScope): object {
  const isOwn = keyId === null || (row.key_ids.length === 1 && row.key_ids[0] === keyId);
  if (isOwn) return withoutShapes(row);
  return { trace_id: row.trace_id, note: 'It has calls of other keys as well: get_run and explain_cost show yours.' };
}

export const listRuns = defineTool({
  name: 'list_runs',
  title: 'List runs',
  description:
    'Runs: calls with one trace id, such as a session of a coding agent, with cost in US dollars as decimal text, tokens, errors and time. While unpriced_calls is not 0, total_cost means at least. While next_cursor is not null there is more: ask again with it as cursor.',
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
  run: ({ filters, search, limit, ...rest }, ask, scope) =>
    showPage(limit, async (rows) => {
      const fields = { ...rest, q: search, limit: rows };
      const page = await askJson(ask, Page, pathOf('/api/v1/runs', fields, scopedFilters(scope, filters)));
      return { ...page, data: page.data.map((row) => hideOthers(row, scope)) };
    }),
});
