/**
 * The text of each begin that was written, until its ending repeats it. Not a `Map`: its tables, made anew all the time
 * under such use, keep what they held alive until the next full garbage collection.
 */
import type { CallBegin } from '../call-record.ts';

export class BeginTexts {
  readonly #begins: CallBegin[] = [];
  readonly #texts: string[] = [];

  add(begin: CallBegin, text: string): void {
    this.#begins.push(begin);
    this.#texts.push(text);
  }

  /** Looks from the end: who came last mostly goes first. */
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
