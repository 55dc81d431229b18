/** Pages of calls, by filters or by a search; the two tools differ in what they ask the model for. */
import { z } from 'zod';
import { type AskApi, askJson, pathOf, type ReadScope, scopedFilters } from './ask-api.ts';
import { defineTool } from './tool.ts';
import { Cursor, Filters, From, Limit, SearchText, To } from './tool-inputs.ts';
import { showFitting, type ToolResult } from './tool-result.ts';

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

const Page = z.object({
  data: z.array(z.unknown()),
  next_cursor: z.string().nullable(),
  searched_to: z.string().nullable(),
});

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

function showCalls(question: Question, ask: AskApi, scope: ReadScope): Promise<ToolResult> {
  const { filters, limit, text, ...rest } = question;
  const extra = [...(scope.hasTexts ? ['snippet'] : []), ...(text === undefined ? [] : ['matches'])];
  // Whoever may not read texts gets what there would be without them: even that there is more tells something.
  const searched = text === undefined ? {} : { q: text, q_texts: String(scope.hasTexts) };
  const fields = { ...rest, ...searched, fields: [...COLUMNS, ...extra].join(',') };
  return showFitting(limit, (rows) =>
    askJson(ask, Page, pathOf('/api/v1/logs', { ...fields, limit: rows }, scopedFilters(scope, filters))),
  );
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
