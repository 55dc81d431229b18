/** The texts of open begins. A `Map` under such use would keep old entries alive until a full collection. */
import type { CallBegin } from '../vocabulary/call-record.ts';

export class BeginTexts {
  readonly #begins: CallBegin[] = [];
  readonly #texts: string[] = [];

  add(begin: CallBegin, text: string): void {
    this.#begins.push(begin);
    this.#texts.push(text);
  }

  /** Searches from the end, since the latest mostly leave first. */
  take(begin: CallBegin): string | undefined {
    for (let index = this.#begins.length - 1; index >= 0; index -= 1) {
      if (this.#begins[index] !== begin) continue;
      const text = this.#texts[index];
      const [lastBegin, lastText] = [this.#begins.pop(), this.#texts.pop()];
      if (index < this.#begins.length && lastBegin !== undefined && lastText !== undefined) {
        this.#begins[index] = lastBegin;
        this.#texts[index] = lastText;
      }
      return text;
    }
    return undefined;
  }
}
