/** The greatest cost of calls that are billed by what they send: embeddings and rerankers. */
import { parseJson } from '../../formats/usage/read-json.ts';
import { createSentQueries } from '../../formats/usage/sent-queries.ts';
import { type BoundedCall, dearest, HIDDEN_TOKENS, known, PLAIN, ROUNDING, unknown } from './bounded-call.ts';
import { priceAtMost } from './dearest-rates.ts';
import type { GreatestCost } from './greatest-cost.ts';
import { findPictureTokens, readMedia } from './media.ts';
import { readSearchText } from './search-text.ts';

/** Google embeds pictures and sound as well. */
const MAY_HAVE_MEDIA: readonly string[] = ['embedContent', 'batchEmbedContents'];

/** Many texts, each with a window of its own: their sum has none. */
export function boundEmbedding({ call, body, model, rateFor }: BoundedCall): GreatestCost {
  const media = MAY_HAVE_MEDIA.includes(call.endpoint.family) ? readMedia(readSearchText(body)) : null;
  const ofPicture = findPictureTokens(call.provider, model);
  if (media !== null && (media.others > 0 || (media.pictures > 0 && ofPicture === null)))
    return unknown('unknown-length');
  const tokens = body.length + HIDDEN_TOKENS + (media === null ? 0 : media.pictures * (ofPicture ?? 0));
  const rate = dearest(rateFor(PLAIN), ['input', 'input_image'], tokens);
  return rate === null ? unknown('unpriced') : known(priceAtMost(tokens, rate) + ROUNDING, 'fixed', tokens, 0);
}

/** Rerankers are billed by query or by token. */
export function boundRerank(asked: BoundedCall): GreatestCost {
  const rateOf = asked.rateFor(PLAIN);
  const byQuery = rateOf('rerank_queries', 0);
  if (byQuery === null) return boundEmbedding(asked);
  const sent = createSentQueries(parseJson(asked.body));
  // Where pieces of long documents may make another query, one for each document is the most.
  const queries = sent?.classes.rerank_queries;
  if (queries === undefined || sent?.isIncomplete === true) return unknown('unknown-length');
  return known(priceAtMost(queries, byQuery) + ROUNDING, 'fixed', 0, 0);
}
