/**
 * What the client has of its answer, by what was written to it; and how the call ended for it when it goes. It may go
 * with all it wanted: many a program stops reading at the last event of a stream, or at its finish reason.
 */
import type { ClosedBefore } from '../call-record.ts';
import { isAnswered } from '../shapes/reading.ts';
import type { UsageReading } from '../token-usage.ts';
import type { AnswerEnding } from './answer-ending.ts';
import type { ClientResponse } from './client-exchange.ts';

export class ClientShare {
  #hasBody = false;
  /** What came so far has all that a reader waits for; and that has left. */
  #hasAnswer = false;
  #isServed = false;
  #leftMs: number | null = null;
  #before: ClosedBefore = 'head';

  get hasLeft(): boolean {
    return this.#leftMs !== null;
  }

  /** Monotonic; null while it is there. */
  get leftMs(): number | null {
    return this.#leftMs;
  }

  /** It had all it wanted when it went, or has it now. */
  get isServed(): boolean {
    return this.#isServed;
  }

  /** Says what was read, before it is written. */
  note(reading: UsageReading): void {
    if (!this.#hasAnswer) this.#hasAnswer = reading.terminal || isAnswered(reading);
  }

  /** False when the client is slow to take what is written. */
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

  /** All of an encoded answer that it was sent is read at last; `hadTakenAll`: none of it was left to be taken. */
  settle(reading: UsageReading, hadTakenAll: boolean): void {
    if (this.#hasAnswer || !hadTakenAll) return;
    this.note(reading);
    this.#isServed = this.#hasAnswer;
  }

  /** Once it has left. `isComplete`: the rest of the answer was read. */
  ending(isStalled: boolean, isComplete: boolean): AnswerEnding {
    return this.#isServed
      ? { kind: 'delivered', isComplete }
      : { kind: 'client-gone', isStalled, before: this.#before };
  }
}
