/**
 * Counts a reranker's billed queries, of up to 100 document pieces, from its request. A document of more than 512
 * tokens, the query's included, is several pieces; a text has at most as many tokens as bytes. Source: AWS, Bedrock
 * pricing, Rerank.
 */
import type { JsonValue, TokenUsage } from '../../vocabulary/token-usage.ts';
import { isObject } from './read-json.ts';

const PIECES_PER_QUERY = 100;
const TOKENS_PER_PIECE = 512;
/** The model's markers around query and document. */
const MARKS = 8;
const MAX_DOCUMENTS = 100_000;

function countBytes(text: JsonValue): number {
  return Buffer.byteLength(typeof text === 'string' ? text : JSON.stringify(text));
}

/** An upper bound on a document's pieces; infinite where the query alone may fill one. */
function countPieces(document: JsonValue, room: number): number {
  return room <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil(countBytes(document) / room));
}

/** Null for a request of another form; incomplete where the pieces may make another query. */
export function createSentQueries(body: JsonValue | undefined): TokenUsage | null {
  if (!isObject(body)) return null;
  const { query, documents } = body;
  if (typeof query !== 'string' || !Array.isArray(documents)) return null;
  if (documents.length === 0 || documents.length > MAX_DOCUMENTS) return null;
  const room = TOKENS_PER_PIECE - MARKS - countBytes(query);
  const most = documents.reduce((sum: number, document: JsonValue) => sum + countPieces(document, room), 0);
  const queries = Math.ceil(documents.length / PIECES_PER_QUERY);
  const isSure = Math.ceil(most / PIECES_PER_QUERY) === queries;
  return {
    classes: { rerank_queries: queries },
    reasoning: null,
    ...(isSure ? {} : { isIncomplete: true }),
    native: { documents: documents.length },
  };
}
