/**
 * What became of the calls of one process directory, as far as its cursor has come: it stands in the same file and moves
 * in the same step, so that a batch which is stored again after a crash is counted once. Calls are told apart by the
 * number that their process gave them. Not what is still behind the cursor.
 */
import type { Outcome } from '../call-record.ts';
import { OrdinalSet, type OrdinalsData, readOrdinals } from './ordinal-set.ts';

/** Why the calls of a directory cannot be counted. */
export type UnknownReason =
  /** Its records have no numbers: an older release wrote it. */
  | 'older_release'
  /** Some of it was stored before, and how much was not noted (by an older release), or the note is gone. */
  | 'tally_lost';

/** As it stands in `cursor.json`. */
export type CallTallyData =
  | {
      readonly stored: number;
      readonly setAside: number;
      readonly highestOrdinal: number;
      readonly outcomes: Readonly<Partial<Record<Outcome, number>>>;
      readonly storedOrdinals: OrdinalsData;
      readonly setAsideOrdinals: OrdinalsData;
      /** Calls whose process died before their ending: about to be stored, or stored. */
      readonly interruptedOrdinals?: OrdinalsData;
    }
  | { readonly unknown: UnknownReason };

export interface TallyEntry {
  readonly ordinal: number | undefined;
  /** Null for a beginning. */
  readonly outcome: Outcome | null;
}

export class CallTally {
  readonly #stored: OrdinalSet;
  readonly #setAside: OrdinalSet;
  #interrupted: OrdinalSet | null;
  readonly #outcomes: Map<Outcome, number>;
  #highest: number;
  #unknown: UnknownReason | null;

  private constructor(parts: {
    readonly stored: OrdinalSet;
    readonly setAside: OrdinalSet;
    readonly interrupted: OrdinalSet | null;
    readonly outcomes: ReadonlyMap<Outcome, number>;
    readonly highest: number;
    readonly unknown: UnknownReason | null;
  }) {
    this.#stored = parts.stored;
    this.#setAside = parts.setAside;
    this.#interrupted = parts.interrupted;
    this.#outcomes = new Map(parts.outcomes);
    this.#highest = parts.highest;
    this.#unknown = parts.unknown;
  }

  static empty(unknown: UnknownReason | null = null): CallTally {
    return new CallTally({
      stored: new OrdinalSet(),
      setAside: new OrdinalSet(),
      interrupted: null,
      outcomes: new Map(),
      highest: 0,
      unknown,
    });
  }

  /** From the member `calls` of a cursor. What is not readable is a tally that was lost. */
  static from(value: unknown): CallTally {
    if (typeof value !== 'object' || value === null) return CallTally.empty('tally_lost');
    const parts: Readonly<Record<string, unknown>> = { ...value };
    if (parts['unknown'] === 'older_release') return CallTally.empty('older_release');
    const stored = readOrdinals(parts['storedOrdinals']);
    const setAside = readOrdinals(parts['setAsideOrdinals']);
    const interrupted = parts['interruptedOrdinals'] === undefined ? null : readOrdinals(parts['interruptedOrdinals']);
    const outcomes = readOutcomes(parts['outcomes']);
    const highest = parts['highestOrdinal'];
    if (stored === null || setAside === null || typeof highest !== 'number') return CallTally.empty('tally_lost');
    return new CallTally({ stored, setAside, interrupted, outcomes, highest, unknown: null });
  }

  get stored(): number {
    return this.#stored.size;
  }

  get setAside(): number {
    return this.#setAside.size;
  }

  /** Of all records that were read, those of beginnings too. */
  get highestOrdinal(): number {
    return this.#highest;
  }

  get unknown(): UnknownReason | null {
    return this.#unknown;
  }

  get outcomes(): Readonly<Partial<Record<Outcome, number>>> {
    return Object.fromEntries(this.#outcomes);
  }

  get isInterrupting(): boolean {
    return this.#interrupted !== null;
  }

  giveUp(reason: UnknownReason): void {
    this.#unknown ??= reason;
  }

  /** A record that was read, whatever becomes of it. */
  note({ ordinal }: TallyEntry): void {
    if (ordinal === undefined) this.giveUp('older_release');
    else if (ordinal > this.#highest) this.#highest = ordinal;
  }

  /** A call that has its row now. */
  store({ ordinal, outcome }: TallyEntry): void {
    if (ordinal === undefined) return;
    this.#setAside.delete(ordinal);
    if (this.#stored.add(ordinal) && outcome !== null)
      this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1);
  }

  /** A call of which no row could be made. */
  putAside({ ordinal }: TallyEntry): void {
    if (ordinal !== undefined && !this.#stored.has(ordinal)) this.#setAside.add(ordinal);
  }

  /** Calls that are about to be stored as interrupted: noted first, so that those which a crash leaves stored count. */
  interrupt(ordinals: Iterable<number>): void {
    this.#interrupted ??= new OrdinalSet();
    for (const ordinal of ordinals) if (!this.#stored.has(ordinal)) this.#interrupted.add(ordinal);
  }

  /** All that were noted are stored now, or were put aside. */
  endInterrupting(): void {
    for (const ordinal of this.#interrupted ?? [])
      if (!this.#setAside.has(ordinal)) this.store({ ordinal, outcome: 'interrupted' });
    this.#interrupted = null;
  }

  copy(): CallTally {
    return new CallTally({
      stored: new OrdinalSet(this.#stored.toData()),
      setAside: new OrdinalSet(this.#setAside.toData()),
      interrupted: this.#interrupted === null ? null : new OrdinalSet(this.#interrupted.toData()),
      outcomes: this.#outcomes,
      highest: this.#highest,
      unknown: this.#unknown,
    });
  }

  toData(): CallTallyData {
    if (this.#unknown !== null) return { unknown: this.#unknown };
    return {
      stored: this.stored,
      setAside: this.setAside,
      highestOrdinal: this.#highest,
      outcomes: this.outcomes,
      storedOrdinals: this.#stored.toData(),
      setAsideOrdinals: this.#setAside.toData(),
      ...(this.#interrupted === null ? {} : { interruptedOrdinals: this.#interrupted.toData() }),
    };
  }
}

const OUTCOMES: readonly Outcome[] = [
  ...(['ok', 'upstream_error', 'upstream_stream_error', 'upstream_truncated', 'upstream_unreachable'] as const),
  ...(['client_closed', 'rejected', 'gateway_error', 'shutdown_cut', 'interrupted'] as const),
];

function readOutcomes(value: unknown): ReadonlyMap<Outcome, number> {
  const counts: Readonly<Record<string, unknown>> = typeof value === 'object' ? { ...value } : {};
  const outcomes = new Map<Outcome, number>();
  for (const outcome of OUTCOMES) {
    const count = counts[outcome];
    if (typeof count === 'number') outcomes.set(outcome, count);
  }
  return outcomes;
}
