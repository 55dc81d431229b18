/** What was written to the client, and how the call ended for it. Many clients leave satisfied before the end. */

import { isAnswered } from '../formats/usage/reported-usage.ts';
import type { ClosedBefore } from '../vocabulary/call-record.ts';
import type { ReportedUsage } from '../vocabulary/token-usage.ts';
import type { AnswerEnding } from './answer-ending.ts';
import type { ClientResponse } from './client-exchange.ts';

export class ClientShare {
  #hasBody = false;
  /** The bytes so far hold everything a reader waits for; `#isServed` once they have left. */
  #hasAnswer = false;
  #isServed = false;
  #leftMs: number | null = null;
  #before: ClosedBefore = 'head';

  get hasLeft(): boolean {
    return this.#leftMs !== null;
  }

  get leftMs(): number | null {
    return this.#leftMs;
  }

  /** The client had everything it wanted when it left, or has it now. */
  get isServed(): boolean {
    return this.#isServed;
  }

  /** Takes what was read, before those bytes are written. */
  note(reported: ReportedUsage): void {
    if (!this.#hasAnswer) this.#hasAnswer = reported.terminal || isAnswered(reported);
  }

  /** Returns false when the client reads slowly. */
  write(outgoing: ClientResponse, bytes: Buffer): boolean {
    if (bytes.length > 0) this.#hasBody = true;
    if (this.#isServed || !this.#hasAnswer) return outgoing.write(bytes);
    return outgoing.write(bytes, (error) => {
      if (error == null && !this.hasLeft) this.#isServed = true;
    });
  }

  leave(hasHead: boolean): void {
    this.#leftMs = performance.now();
    this.#before = !hasHead ? 'head' : this.#hasBody ? 'end' : 'first_byte';
  }

  /** Called when an encoded answer is decoded at last; `hadTakenAll`: nothing written was left unread. */
  settle(reported: ReportedUsage, hadTakenAll: boolean): void {
    if (this.#hasAnswer || !hadTakenAll) return;
    this.note(reported);
    this.#isServed = this.#hasAnswer;
  }

  /** Call after `leave`. `isComplete`: the rest of the answer was read. */
  ending(isStalled: boolean, isComplete: boolean): AnswerEnding {
    return this.#isServed
      ? { kind: 'delivered', isComplete }
      : { kind: 'client-gone', isStalled, before: this.#before };
  }
}
