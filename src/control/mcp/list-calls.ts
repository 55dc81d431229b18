/** Pages of calls, by filters or by a search; the two tools differ in what they ask the model for. */
import { z } from 'zod';
import { type AskApi, askJson, pathOf, type ReadScope, scopedFilters } from './ask-api.ts';
import { defineTool } from './tool.ts';
import { Cursor, Filters, From, Limit, SearchText, To } from './tool-inputs.ts';
import { showPage, type ToolResult } from './tool-result.ts';

const COLUMNS = [
  'id',
  'requested_at',
  'client',
  'agent',
  'agent_session',
  'agent_path',
  'key_id',
  'provider',
  'model',
  'model_requested',
  'endpoint',
  'outcome',
  'status',
  'error_type',
  'error_message',
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'total_cost',
  'known_cost',
  'cost_status',
  'duration_ms',
  'trace_id',
  'span_path',
  'span_name',
  'provider_request_id',
  'raw_metadata',
] as const;

const SORTS = ['-requested_at', 'requested_at', '-total_cost', '-duration_ms', '-output_tokens'] as const;

const Match = z.object({ in: z.string() }).loose();
const Row = z.object({ id: z.string().optional(), matches: z.array(Match).optional() }).loose();
const Page = z.object({ data: z.array(Row), next_cursor: z.string().nullable(), searched_to: z.string().nullable() });

const ListInput = z.strictObject({
  filters: Filters,
  from: From,
  to: To,
  sort: z.enum(SORTS).default('-requested_at').describe('A minus in front: the newest, or the most, first'),
  limit: Limit,
  cursor: Cursor,
});

const SearchInput = z.strictObject({
  text: SearchText.describe('In any case, anywhere in what is searched; or a whole id'),
  filters: Filters,
  from: From,
  to: To,
  limit: Limit,
  cursor: Cursor,
});

type Question = Omit<z.infer<typeof ListInput>, 'sort'> & { readonly sort?: string; readonly text?: string };

/** The parts of a call that are text of prompts and answers. */
const TEXT_PARTS: readonly string[] = ['prompt', 'answer'];

/** A row found in a text alone must not show who may not read texts what the text is. */
function isFoundElsewhere(row: z.infer<typeof Row>, text: string): boolean {
  const isId = [row.id, row['provider_request_id']].some(
    (id) => typeof id === 'string' && id.toLowerCase() === text.toLowerCase(),
  );
  return isId || (row.matches ?? []).some((match) => !TEXT_PARTS.includes(match.in));
}

function withoutTexts(row: z.infer<typeof Row>): z.infer<typeof Row> {
  return { ...row, matches: (row.matches ?? []).filter((match) => !TEXT_PARTS.includes(match.in)) };
}

function showCalls(question: Question, ask: AskApi, scope: ReadScope): Promise<ToolResult> {
  const { filters, limit, text, ...rest } = question;
  const extra = [...(scope.hasTexts ? ['snippet'] : []), ...(text === undefined ? [] : ['matches'])];
  const fields = { ...rest, q: text, fields: [...COLUMNS, ...extra].join(',') };
  return showPage(limit, async (rows) => {
    const path = pathOf('/api/v1/logs', { ...fields, limit: rows }, scopedFilters(scope, filters));
    const page = await askJson(ask, Page, path);
    if (text === undefined || scope.hasTexts) return page;
    return { ...page, data: page.data.filter((row) => isFoundElsewhere(row, text)).map(withoutTexts) };
  });
}

const PAGING =
  'A page may be short or empty although there is more: while next_cursor is not null, ask again with it as cursor. searched_to says how far the log was searched.';

export const listCalls = defineTool({
  name: 'list_calls',
  title: 'List calls',
  description: `Calls of language models that came through the gateway, one row a call, with tokens, cost in US dollars as decimal text, errors and metadata. null means not known or not reported, never zero. ${PAGING}`,
  input: ListInput,
  run: showCalls,
});

export const searchCalls = defineTool({
  name: 'search_calls',
  title: 'Search calls',
  description: `Finds calls by free text in span names, models, errors, paths, trace ids, clients and metadata values; in the text of prompts and answers too where this token may read them. matches says where it was found. ${PAGING}`,
  input: SearchInput,
  run: showCalls,
});
