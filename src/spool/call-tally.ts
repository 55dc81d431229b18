/** Counts what became of a process directory's calls up to its cursor, by ordinal, so that repeats count once. */
import { z } from 'zod';
import type { Outcome } from '../vocabulary/call-record.ts';
import { OrdinalSet, OrdinalsData } from './ordinal-set.ts';

export type UnknownReason =
  /** Its records have no ordinals. */
  | 'older_release'
  /** Some of it was stored and the tally is gone, or an older release kept none. */
  | 'tally_lost';

const UnknownData = z.object({ unknown: z.literal('older_release') });
const KnownData = z.object({
  highestOrdinal: z.number(),
  outcomes: z.record(z.string(), z.number()).catch({}),
  storedOrdinals: OrdinalsData,
  setAsideOrdinals: OrdinalsData,
  /** Calls without an ending that are being stored as interrupted. */
  interruptedOrdinals: OrdinalsData.optional(),
});

export interface TallyEntry {
  readonly ordinal: number | undefined;
  /** Null for a begin. */
  readonly outcome: Outcome | null;
}

export class CallTally {
  readonly #stored: OrdinalSet;
  readonly #setAside: OrdinalSet;
  #interrupted: OrdinalSet | null;
  readonly #outcomes: Map<string, number>;
  #highest: number;
  #unknown: UnknownReason | null = null;

  private constructor(data: z.infer<typeof KnownData>) {
    this.#stored = new OrdinalSet(data.storedOrdinals);
    this.#setAside = new OrdinalSet(data.setAsideOrdinals);
    this.#interrupted = data.interruptedOrdinals === undefined ? null : new OrdinalSet(data.interruptedOrdinals);
    this.#outcomes = new Map(Object.entries(data.outcomes));
    this.#highest = data.highestOrdinal;
  }

  static empty(unknown: UnknownReason | null = null): CallTally {
    const none = { ranges: [] };
    const tally = new CallTally({ highestOrdinal: 0, outcomes: {}, storedOrdinals: none, setAsideOrdinals: none });
    tally.#unknown = unknown;
    return tally;
  }

  /** From the member `calls` of a cursor. An unreadable value is a lost tally. */
  static from(value: unknown): CallTally {
    if (UnknownData.safeParse(value).success) return CallTally.empty('older_release');
    const known = KnownData.safeParse(value);
    return known.success ? new CallTally(known.data) : CallTally.empty('tally_lost');
  }

  get stored(): number {
    return this.#stored.size;
  }

  get setAside(): number {
    return this.#setAside.size;
  }

  /** The highest ordinal of all records read, begins included. */
  get highestOrdinal(): number {
    return this.#highest;
  }

  get unknown(): UnknownReason | null {
    return this.#unknown;
  }

  get outcomes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#outcomes);
  }

  get isInterrupting(): boolean {
    return this.#interrupted !== null;
  }

  giveUp(reason: UnknownReason): void {
    this.#unknown ??= reason;
  }

  /** Call for each record that was read. */
  note({ ordinal }: TallyEntry): void {
    if (ordinal === undefined) this.giveUp('older_release');
    else if (ordinal > this.#highest) this.#highest = ordinal;
  }

  /** The call has its row. */
  store({ ordinal, outcome }: TallyEntry): void {
    if (ordinal === undefined) return;
    this.#setAside.delete(ordinal);
    if (this.#stored.add(ordinal) && outcome !== null)
      this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
  }

  /** No row could be made of the call. */
  putAside({ ordinal }: TallyEntry): void {
    if (ordinal !== undefined && !this.#stored.has(ordinal)) this.#setAside.add(ordinal);
  }

  /** Notes the calls first, so that those stored before a crash count. */
  interrupt(ordinals: Iterable<number>): void {
    this.#interrupted ??= new OrdinalSet();
    for (const ordinal of ordinals) if (!this.#stored.has(ordinal)) this.#interrupted.add(ordinal);
  }

  /** Counts all noted calls as stored, except those put aside. */
  endInterrupting(): void {
    for (const ordinal of this.#interrupted ?? [])
      if (!this.#setAside.has(ordinal)) this.store({ ordinal, outcome: 'interrupted' });
    this.#interrupted = null;
  }

  /** The form in `cursor.json`. Earlier releases read `stored` and `setAside`. */
  toData(): unknown {
    if (this.#unknown !== null) return { unknown: this.#unknown };
    return {
      stored: this.stored,
      setAside: this.setAside,
      highestOrdinal: this.#highest,
      outcomes: this.outcomes,
      storedOrdinals: this.#stored.toData(),
      setAsideOrdinals: this.#setAside.toData(),
      interruptedOrdinals: this.#interrupted?.toData(),
    };
  }
}
