/** What is left of one limit on this node, and which processes hold some of it. No time of its own, no messages. */
import type { Credits, Limit, LimitRefusal } from '../../vocabulary/limit.ts';
import { TokenBucket } from './token-bucket.ts';

/** A process is given so much of a limit beyond what it needs, so that it need not ask for each call. */
const SPARE_SHARE = 1 / 50;
/** When a slot becomes free is not known. */
const SLOT_WAIT_MS = 1_000;

export interface Holder<Child> {
  readonly child: Child;
  slots: number;
  /** It may have something left that no call uses. */
  maySpare: boolean;
}

export class LimitAccount<Child> {
  readonly #holders = new Map<Child, Holder<Child>>();
  #slots: number | null = null;
  #lentSlots = 0;
  #requests: TokenBucket | null = null;
  #tokens: TokenBucket | null = null;

  /** `share`: this node's of the limit. At least one call passes. */
  setLimit({ concurrent, requestsPerMinute, tokensPerMinute }: Limit, share: number, nowMs: number): void {
    const part = (most: number | undefined) => (most === undefined ? null : Math.max(1, Math.floor(most * share)));
    this.#slots = part(concurrent);
    this.#requests = sized(this.#requests, part(requestsPerMinute), nowMs);
    this.#tokens = sized(this.#tokens, part(tokensPerMinute), nowMs);
  }

  /** More than was needed where there is plenty and `mayHaveSpare`; or why not. */
  take(child: Child, need: Credits, mayHaveSpare: boolean, nowMs: number): Credits | LimitRefusal {
    const refusal = this.#refuse(need, nowMs);
    if (refusal !== null) return refusal;
    const free = this.#slots === null ? 0 : this.#slots - this.#lentSlots;
    const spareShare = mayHaveSpare ? SPARE_SHARE : 0;
    const granted = {
      slots: this.#slots === null ? 0 : withSpare(need.slots, free, this.#slots * spareShare),
      requests: takeWithSpare(this.#requests, need.requests, spareShare, nowMs),
      tokens: takeWithSpare(this.#tokens, need.tokens, spareShare, nowMs),
    };
    const holder = this.#holderOf(child);
    holder.slots += granted.slots;
    holder.maySpare = true;
    this.#lentSlots += granted.slots;
    return granted;
  }

  giveBack(child: Child, credits: Credits, isAll: boolean, nowMs: number): void {
    const holder = this.#holderOf(child);
    const slots = Math.min(credits.slots, holder.slots);
    holder.slots -= slots;
    this.#lentSlots -= slots;
    this.#requests?.take(-credits.requests, nowMs);
    this.#tokens?.take(-credits.tokens, nowMs);
    if (isAll) holder.maySpare = false;
    if (isAll && holder.slots === 0) this.#holders.delete(child);
  }

  /** The process has ended, and its calls with it. What it had of requests and tokens is lost, and flows back. */
  forget(child: Child): void {
    this.#lentSlots -= this.#holders.get(child)?.slots ?? 0;
    this.#holders.delete(child);
  }

  listSparing(except: Child): readonly Child[] {
    return [...this.#holders.values()].flatMap(({ child, maySpare }) => (maySpare && child !== except ? [child] : []));
  }

  /** Forgetting it changes nothing. */
  isIdle(nowMs: number): boolean {
    return this.#holders.size === 0 && this.#requests?.isFull(nowMs) !== false && this.#tokens?.isFull(nowMs) !== false;
  }

  use(nowMs: number): Credits {
    const taken = (bucket: TokenBucket | null) =>
      bucket === null ? 0 : Math.max(0, Math.ceil(bucket.capacity - bucket.level(nowMs)));
    return { slots: this.#lentSlots, requests: taken(this.#requests), tokens: taken(this.#tokens) };
  }

  #refuse(need: Credits, nowMs: number): LimitRefusal | null {
    if (this.#slots !== null && need.slots > 0 && this.#slots - this.#lentSlots < need.slots)
      return { kind: 'slots', limit: this.#slots, remaining: 0, retryAfterMs: SLOT_WAIT_MS };
    return (
      refuseOf('requests', this.#requests, need.requests, nowMs) ?? refuseOf('tokens', this.#tokens, need.tokens, nowMs)
    );
  }

  #holderOf(child: Child): Holder<Child> {
    const known = this.#holders.get(child);
    if (known !== undefined) return known;
    const holder: Holder<Child> = { child, slots: 0, maySpare: false };
    this.#holders.set(child, holder);
    return holder;
  }
}

function sized(bucket: TokenBucket | null, capacity: number | null, nowMs: number): TokenBucket | null {
  if (capacity === null) return null;
  if (bucket === null) return new TokenBucket(capacity, nowMs);
  if (bucket.capacity !== capacity) bucket.resize(capacity, nowMs);
  return bucket;
}

function withSpare(need: number, free: number, spare: number): number {
  return need === 0 ? 0 : need + Math.max(0, Math.min(Math.floor(free - need), Math.floor(spare)));
}

/** A call that needs more than the whole limit takes all of it. */
function takeWithSpare(bucket: TokenBucket | null, need: number, spareShare: number, nowMs: number): number {
  if (bucket === null) return 0;
  const given = withSpare(Math.min(need, bucket.capacity), bucket.level(nowMs), bucket.capacity * spareShare);
  bucket.take(given, nowMs);
  return given;
}

function refuseOf(
  kind: 'requests' | 'tokens',
  bucket: TokenBucket | null,
  need: number,
  nowMs: number,
): LimitRefusal | null {
  if (bucket === null || need === 0 || bucket.has(Math.min(need, bucket.capacity), nowMs)) return null;
  const { capacity } = bucket;
  const remaining = Math.max(0, Math.floor(bucket.level(nowMs)));
  return { kind, limit: capacity, remaining, retryAfterMs: Math.max(1, bucket.waitMs(need, nowMs)) };
}
