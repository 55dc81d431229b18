/** What is searched: tables whose rows come with `ingest_xid`, and where the index over each of them is. */
import type { GramSet } from './grams.ts';

export interface SearchSource {
  readonly name: 'calls' | 'texts';
  /** Has `id` (a UUIDv7 of the millisecond in `requested_at`), `requested_at` and `ingest_xid`, with indexes. */
  readonly table: string;
  readonly segments: string;
  /** What `addRow` reads. */
  readonly columns: readonly string[];
  /** How many stretches are read together: their texts are in memory. */
  readonly stretchesAtOnce: number;
  readonly addRow: (row: Readonly<Record<string, unknown>>, grams: GramSet) => void;
}

/** The columns of a call that the search looks into; trace ids and all others by parts, ids of requests as a whole. */
export const SEARCHED_COLUMNS = [
  'span_name',
  'model',
  'model_requested',
  'error_message',
  'path',
  'trace_id',
  'client',
  'error_type',
] as const;

function addTexts(values: readonly unknown[], grams: GramSet): void {
  for (const value of values) if (typeof value === 'string') grams.add(value);
}

export const CALLS: SearchSource = {
  name: 'calls',
  table: 'llm_requests',
  segments: 'llm_search_calls',
  columns: [...SEARCHED_COLUMNS, 'provider_request_id', 'raw_metadata'],
  stretchesAtOnce: 64,
  addRow(row, grams) {
    const { raw_metadata: metadata, provider_request_id: requestId } = row;
    addTexts(
      SEARCHED_COLUMNS.map((name) => row[name]),
      grams,
    );
    if (typeof metadata === 'object' && metadata !== null) addTexts(Object.values(metadata), grams);
    if (typeof requestId === 'string') grams.addWhole(requestId);
  },
};

export const TEXTS: SearchSource = {
  name: 'texts',
  table: 'llm_texts',
  segments: 'llm_search_texts',
  columns: ['prompt', 'answer'],
  stretchesAtOnce: 4,
  addRow: ({ prompt, answer }, grams) => addTexts([prompt, answer], grams),
};

export const SEARCH_SOURCES: readonly SearchSource[] = [CALLS, TEXTS];
