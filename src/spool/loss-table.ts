/** The entries of a loss ledger in memory: bounded, by merging what there is no room for. It knows no files. */
import type { CallBegin, CallEnd, ProviderName } from '../call-record.ts';
import { addClasses, type ClassQuantities } from '../token-usage.ts';

const MAX_ENTRIES = 128;
const MAX_MODEL_CHARS = 100;
const MINUTE_MS = 60_000;

/** Calls of one minute, key and model. What did not fit any more is in one entry whose other members are all null. */
export interface LossEntry {
  /** Start of the minute in which the calls began; of the first of them, in an entry that stands for several. */
  readonly minuteMs: number;
  readonly accountId: number | null;
  readonly keyId: number | null;
  readonly provider: ProviderName | null;
  /** Served, else requested, else null. */
  readonly model: string | null;
  /** 0 where the entry is the second model of calls that are counted with their first. */
  readonly calls: number;
  /** Summed over the calls that reported any. */
  readonly usage: ClassQuantities;
  /** The highest of these calls: how many there were at least, when no record of theirs is left. */
  readonly lastOrdinal?: number;
}

type Whose = Omit<LossEntry, 'calls' | 'usage'>;

export class LossTable {
  #entries: LossEntry[];

  constructor(entries: readonly LossEntry[]) {
    this.#entries = [...entries];
  }

  add(begin: CallBegin, end: CallEnd | null): void {
    const usage = end?.usage ?? null;
    const model = end?.model ?? end?.modelRequested ?? begin.modelRequested;
    const whose = {
      minuteMs: begin.requestedAtMs - (begin.requestedAtMs % MINUTE_MS),
      accountId: begin.accountId,
      keyId: begin.keyId,
      provider: begin.provider,
      ...(begin.ordinal === undefined ? {} : { lastOrdinal: begin.ordinal }),
    };
    this.#add({ ...whose, model: cut(model) }, 1, usage?.classes ?? {});
    for (const other of usage?.others ?? [])
      this.#add({ ...whose, model: cut(other.model ?? model) }, 0, other.classes);
  }

  /** As JSON of at most `maxBytes`. */
  encode(maxBytes: number): Buffer {
    for (;;) {
      const bytes = Buffer.from(JSON.stringify(this.#entries));
      const last = this.#entries.at(-1);
      if (bytes.length <= maxBytes || last === undefined || this.#entries.length === 1) return bytes;
      const cutFrom = Math.max(1, Math.floor(this.#entries.length * 0.8));
      for (const entry of this.#entries.splice(cutFrom)) this.#merge(entry, entry.calls, entry.usage);
    }
  }

  #add(whose: Whose, calls: number, usage: ClassQuantities): void {
    const isSame = (entry: LossEntry) => isOfSame(entry, whose) && entry.minuteMs === whose.minuteMs;
    if (this.#addTo(isSame, whose, calls, usage)) return;
    if (this.#entries.length < MAX_ENTRIES) this.#entries.push({ ...whose, calls, usage });
    else this.#merge(whose, calls, usage);
  }

  /** Of another minute if possible: a sum by model has a price. */
  #merge(whose: Whose, calls: number, usage: ClassQuantities): void {
    if (this.#addTo((entry) => isOfSame(entry, whose), whose, calls, usage)) return;
    const isRest = (entry: LossEntry) => entry.accountId === null;
    if (this.#addTo(isRest, whose, calls, usage)) return;
    const nobody = { accountId: null, keyId: null, provider: null, model: null };
    // In front, where it stays when entries are taken from the end.
    this.#entries.unshift({ ...whose, ...nobody, calls, usage });
  }

  #addTo(matches: (entry: LossEntry) => boolean, whose: Whose, calls: number, usage: ClassQuantities): boolean {
    const index = this.#entries.findLastIndex(matches);
    const entry = this.#entries[index];
    if (entry === undefined) return false;
    const lastOrdinal = Math.max(entry.lastOrdinal ?? 0, whose.lastOrdinal ?? 0);
    const sums = { calls: entry.calls + calls, usage: addClasses(entry.usage, usage) };
    this.#entries[index] = { ...entry, ...sums, ...(lastOrdinal === 0 ? {} : { lastOrdinal }) };
    return true;
  }
}

function isOfSame(entry: LossEntry, whose: Whose): boolean {
  return entry.keyId === whose.keyId && entry.model === whose.model && entry.provider === whose.provider;
}

function cut(model: string | null): string | null {
  return model?.slice(0, MAX_MODEL_CHARS) ?? null;
}
