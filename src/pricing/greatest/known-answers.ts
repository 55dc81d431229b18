/** How long conversations are that the provider keeps, by the id of their last answer (`previous_response_id`). */
import { dropOldest } from '../../vocabulary/drop-oldest.ts';

const MAX_KEPT = 20_000;
/** Ids of answers, as against those of HTTP requests. Source: OpenAI, Responses API; November 2026. */
const ANSWER_ID = /^resp_[\w-]{1,128}$/;

export class KnownAnswers {
  readonly #tokens = new Map<string, number>();

  readonly find = (id: string): number | null => this.#tokens.get(id) ?? null;

  note(id: string, tokens: number): void {
    if (!ANSWER_ID.test(id)) return;
    this.#tokens.delete(id);
    this.#tokens.set(id, tokens);
    dropOldest(this.#tokens, MAX_KEPT);
  }
}
