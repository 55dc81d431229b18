/**
 * What a reranker is billed for, from its request: queries of up to 100 pieces of documents. Source: AWS, Bedrock
 * pricing, Rerank: "a query can have up to 100 document chunks", and a document of more than 512 tokens, the query's
 * own counted in, is several. Tokens are not known here, but a text has no more of them than bytes. It knows no prices.
 */
import type { JsonValue, TokenUsage } from '../token-usage.ts';
import { isObject } from './json-reading.ts';

const PIECES_PER_QUERY = 100;
const TOKENS_PER_PIECE = 512;
/** The model's own marks around query and document. */
const MARKS = 8;
/** More is asked of no API at once. */
const MAX_DOCUMENTS = 100_000;

function countBytes(text: JsonValue): number {
  return Buffer.byteLength(typeof text === 'string' ? text : JSON.stringify(text));
}

/** The most pieces that a document can be; infinite where the query alone may fill one. */
function countPieces(document: JsonValue, room: number): number {
  return room <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil(countBytes(document) / room));
}

/** Null when it is no request of that form. Incomplete where the pieces may make another query. */
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
