/**
 * What this process may spend of each scope. It takes a share of the money from the node's ledger, reserves and settles in
 * it without touching the file, and gives back what it does not use when another process asks, or when it is idle. In the
 * file a share is there before it is spent here, and is smaller there only after it is smaller here: whenever the process
 * dies, what it has spent is within what it was granted. Decision 64 says why.
 */
import { greater, type PicoUsd } from '../vocabulary/usd.ts';
import { RUN_BUDGET_ID } from './budget.ts';
import type { BudgetLedger, Claim, Scope, SharingMode, Signal, WrittenShare } from './ledger.ts';
import { fitOf, giveBack, isOver, isWorthWriting, leastOf, mayGive, nameOf, openShare, type Share } from './share.ts';

/** How often a process that has money looks whether another one asks for it. */
const LOOK_MS = 10;
/** How far what it has written may be behind. */
const WRITE_MS = 100;
/** What it does not use for so long it gives back. */
const IDLE_MS = 500;
/** A process that was asked and has not answered by then is left alone: it is dead or stands still. */
const ASK_LIMIT_MS = 300;
/** Calls beyond a soft budget are marked without a look at the ledger for so long. */
const OVER_MS = 250;
/** Of what is free a process takes at least this part, so that it seldom comes back. */
const PARTS = 2n;

export interface ReserveRequest {
  readonly callId: string;
  readonly claims: readonly Claim[];
}

export type ReserveAnswer =
  | { readonly kind: 'reserved'; readonly held: readonly Claim[]; readonly isOverSoft: boolean }
  | {
      readonly kind: 'refused';
      readonly claim: Claim;
      readonly limit: PicoUsd;
      readonly spent: PicoUsd;
      readonly reserved: PicoUsd;
      /** Other nodes hold what this one lacks. */
      readonly isShared?: boolean;
    }
  /** Others were asked for more, or this node may not spend yet. */
  | { readonly kind: 'short'; readonly refusal: Extract<ReserveAnswer, { readonly kind: 'refused' }> | null };

export interface Settlement {
  readonly callId: string;
  /** Null: nobody knows, and all that was reserved counts as spent. */
  readonly cost: PicoUsd | null;
}

interface Hold {
  readonly share: Share;
  readonly amount: PicoUsd;
}

type Taken = 'fits' | 'over' | 'uncounted' | Exclude<ReserveAnswer, { readonly kind: 'reserved' }>;

export class ProcessShares {
  readonly #ledger: BudgetLedger;
  readonly #process: string;
  readonly #nowMs: () => number;
  readonly #onFailure: (error: unknown) => void;
  readonly #shares = new Map<string, Share>();
  /** By call. */
  readonly #holds = new Map<string, readonly Hold[]>();
  #seen: Signal;
  #wroteMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  /** `process`: the name of this process's directory in the spool. */
  constructor(ledger: BudgetLedger, process: string, nowMs: () => number, onFailure: (error: unknown) => void) {
    this.#ledger = ledger;
    this.#process = process;
    this.#nowMs = nowMs;
    this.#onFailure = onFailure;
    this.#seen = ledger.readSignal(nowMs());
  }

  /** Null: the ledger has to be asked. */
  tryReserve(callId: string, claims: readonly Claim[]): ReserveAnswer | null {
    const nowMs = performance.now();
    let isOverSoft = false;
    const holds: Hold[] = [];
    for (const claim of claims) {
      const share = this.#shares.get(nameOf(claim));
      const fit = share === undefined ? null : fitOf(share, claim, nowMs);
      if (share === undefined || fit === null) return null;
      if (fit === 'over') isOverSoft = true;
      holds.push({ share, amount: claim.amount });
    }
    this.#hold(callId, holds, nowMs);
    return { kind: 'reserved', held: claims, isOverSoft };
  }

  /** Takes of the ledger what these need, in one transaction: each request in full or not at all. `waitedMs`: so far. */
  reserve(requests: readonly (ReserveRequest & { readonly waitedMs: number })[]): readonly ReserveAnswer[] {
    const grantedBefore = new Map<Share, PicoUsd>();
    const reserved: string[] = [];
    try {
      return this.#ledger.inTransaction(() => {
        const { mode } = this.#ledger.readSignal(this.#nowMs());
        const answers = requests.map((request) => {
          const answer = this.#reserveOne(request, mode, grantedBefore);
          if (answer.kind === 'reserved') reserved.push(request.callId);
          return answer;
        });
        for (const share of grantedBefore.keys()) if (isWorthWriting(share)) this.#write(share, this.#seen.asked);
        return answers;
      });
    } catch (error) {
      // The file has nothing of it.
      for (const callId of reserved) this.settle({ callId, cost: 0n });
      for (const [share, granted] of grantedBefore) {
        share.granted = granted;
        share.isAhead = true;
      }
      throw error;
    } finally {
      this.#schedule();
    }
  }

  settle({ callId, cost }: Settlement): void {
    const holds = this.#holds.get(callId);
    if (holds === undefined) return;
    this.#holds.delete(callId);
    for (const { share, amount } of holds) {
      share.reserved -= amount;
      share.calls -= 1;
      share.spent += cost ?? amount;
      if (cost !== null && cost < 0n) share.refunded -= cost;
      share.isAhead = true;
    }
    this.#schedule();
  }

  /** Gives back what no call holds: the process ends. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const share of this.#shares.values()) giveBack(share);
    this.#writeAll(this.#ledger.readSignal(this.#nowMs()));
  }

  #reserveOne(
    { callId, claims, waitedMs }: ReserveRequest & { readonly waitedMs: number },
    mode: SharingMode,
    grantedBefore: Map<Share, PicoUsd>,
  ): ReserveAnswer {
    const nowMs = performance.now();
    const holds: Hold[] = [];
    const held: Claim[] = [];
    let isOverSoft = false;
    for (const claim of claims) {
      const name = nameOf(claim);
      const known = this.#shares.get(name);
      let taken: Taken | null = known === undefined ? null : fitOf(known, claim, nowMs);
      taken ??= this.#take(name, claim, mode, waitedMs, grantedBefore);
      if (taken === 'uncounted') continue;
      if (typeof taken === 'object') return taken;
      if (taken === 'over') isOverSoft = true;
      const share = this.#shares.get(name);
      if (share !== undefined) holds.push({ share, amount: claim.amount });
      held.push(claim);
    }
    this.#hold(callId, holds, nowMs);
    return { kind: 'reserved', held, isOverSoft };
  }

  /** Makes the share large enough for the claim, if it can be. */
  #take(name: string, claim: Claim, mode: SharingMode, waitedMs: number, grantedBefore: Map<Share, PicoUsd>): Taken {
    const ledger = this.#ledger;
    const scope = ledger.readScope(claim);
    const limit = lesser(claim.limit, scope.runLimit);
    if (limit === null) return 'uncounted';
    const rows = ledger.readShares(claim);
    const row = rows.find(({ process }) => process === this.#process);
    const share = this.#shares.get(name) ?? openShare(claim, limit, row);
    this.#shares.set(name, share);
    if (share.limit !== limit || share.isHard !== claim.isHard) giveBack(share);
    share.limit = limit;
    share.isHard = claim.isHard;
    if (!grantedBefore.has(share)) grantedBefore.set(share, share.granted);

    const noteUse = () => ledger.noteUse(claim, claim.budgetId === RUN_BUDGET_ID ? limit : null, this.#nowMs());
    if (claim.onlyCounts) {
      noteUse();
      return 'fits';
    }
    const others = rows.filter(({ process }) => process !== this.#process);
    const node = describeNode(scope, others, claim, limit, mode);
    const used = share.spent + share.reserved;
    const own = greater(share.granted, used);
    const wanted = used + leastOf(claim);
    const free = node.total - node.granted - own;
    if (mode === 'waiting' && claim.isHard) return { kind: 'short', refusal: null };
    if (wanted - own <= free) {
      const part = free / PARTS;
      share.granted = own + greater(wanted - own, part);
      share.ask = null;
      noteUse();
      // The next call like it should not have to wait for other nodes.
      const next = node.granted + wanted + claim.amount;
      if (mode === 'sharing' && claim.isHard && next > scope.held && next <= limit)
        ledger.askNodes(claim, limit, next, false, this.#nowMs());
      return 'fits';
    }
    if (!claim.isHard) {
      noteUse();
      share.overUntilMs = performance.now() + OVER_MS;
      return 'over';
    }
    return this.#lack(share, claim, { scope, others, node, used, wanted, mode, waitedMs });
  }

  /** Asks whoever may have what is missing, or refuses. */
  #lack(share: Share, claim: Claim, lack: Lack): Taken {
    const { scope, others, node, used, wanted, mode, waitedMs } = lack;
    const refusal = {
      kind: 'refused',
      claim,
      limit: share.limit,
      spent: node.spent + scope.elsewhere + share.spent,
      reserved: node.reserved + share.reserved,
    } as const;
    const isShared = mode === 'sharing';
    // What is left if all others give back everything that they have not spent.
    if (node.spent + wanted > (isShared ? share.limit : node.total)) return refused(share, refusal);
    const pending = others.filter((other) => mayGive(other) && (share.ask === null || other.answered < share.ask));
    if (pending.length > 0 && waitedMs < ASK_LIMIT_MS) {
      share.ask ??= this.#ledger.ask(claim);
      if (isShared && node.spent + wanted > node.total) this.#askNodes(claim, share.limit, node.spent + wanted);
      return { kind: 'short', refusal: { ...refusal, isShared } };
    }
    for (const { process } of pending) this.#ledger.silence(claim, process);
    const need = node.granted + used + leastOf(claim);
    if (!isShared || need > share.limit) return refused(share, refusal);
    share.ask = null;
    this.#askNodes(claim, share.limit, need);
    return { kind: 'short', refusal: { ...refusal, isShared } };
  }

  #askNodes(claim: Claim, limit: PicoUsd, need: PicoUsd): void {
    this.#ledger.askNodes(claim, limit, need, true, this.#nowMs());
  }

  #hold(callId: string, holds: readonly Hold[], nowMs: number): void {
    if (holds.length === 0) return;
    this.#holds.set(callId, holds);
    for (const { share, amount } of holds) {
      share.reserved += amount;
      share.calls += 1;
      share.usedMs = nowMs;
      share.isAhead = true;
    }
  }

  #schedule(): void {
    if (this.#timer !== null || this.#shares.size === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#look();
      this.#schedule();
    }, LOOK_MS);
    this.#timer.unref();
  }

  #look(): void {
    try {
      const signal = this.#ledger.readSignal(this.#nowMs());
      const { asked, mode, sumsId } = this.#seen;
      const isAsked = signal.asked !== asked || signal.mode !== mode || signal.sumsId !== sumsId;
      const nowMs = performance.now();
      if (!isAsked && nowMs - this.#wroteMs < WRITE_MS) return;
      if (isAsked) this.#answer(signal);
      for (const share of this.#shares.values()) if (nowMs - share.usedMs > IDLE_MS) giveBack(share);
      this.#writeAll(signal);
      this.#wroteMs = nowMs;
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #answer(signal: Signal): void {
    const asked = new Set(this.#ledger.listAsked(this.#seen.asked).map(nameOf));
    // Someone wants to know how all stand.
    const isForAll = asked.size < signal.asked - this.#seen.asked;
    // It was granted of what the ledger had then, should this process have stood still when it was told to wait.
    const isOld = signal.sumsId !== this.#seen.sumsId;
    for (const share of this.#shares.values()) {
      const isAsked = asked.has(share.name);
      if (signal.mode === 'waiting' || isOld || isAsked) giveBack(share);
      // Whoever asked waits for the answer, though nothing has changed.
      if (isForAll || isAsked) share.isAhead = true;
    }
  }

  /** Writes what the file does not say yet, and forgets what is of no use now. */
  #writeAll(signal: Signal): void {
    const ahead = [...this.#shares.values()].filter(({ isAhead }) => isAhead);
    if (ahead.length > 0)
      this.#ledger.inTransaction(() => {
        for (const share of ahead) if (isWorthWriting(share)) this.#write(share, signal.asked);
      });
    for (const share of ahead) share.isAhead = false;
    this.#seen = signal;
    for (const share of this.#shares.values()) if (isOver(share)) this.#shares.delete(share.name);
  }

  #write(share: Share, answered: number): void {
    const used = share.spent + share.reserved;
    // A call may have cost more than was reserved for it.
    share.granted = greater(share.granted, used);
    share.isInFile = true;
    this.#ledger.writeShare(share.scope, this.#process, share, answered);
  }
}

interface NodeStanding {
  /** What the node may spend in all. */
  readonly total: PicoUsd;
  /** By ended processes, and what others were granted. */
  readonly granted: PicoUsd;
  /** Surely, by all but this process. */
  readonly spent: PicoUsd;
  readonly reserved: PicoUsd;
}

interface Lack {
  readonly scope: Scope;
  readonly others: readonly WrittenShare[];
  readonly node: NodeStanding;
  readonly used: PicoUsd;
  readonly wanted: PicoUsd;
  readonly mode: SharingMode;
  readonly waitedMs: number;
}

function describeNode(
  scope: Scope,
  others: readonly WrittenShare[],
  claim: Claim,
  limit: PicoUsd,
  mode: SharingMode,
): NodeStanding {
  const sum = (of: (other: WrittenShare) => PicoUsd) => others.reduce((total, other) => total + of(other), 0n);
  const shared = claim.isHard && scope.held < limit ? scope.held : limit;
  return {
    total: mode === 'sole' ? limit - scope.elsewhere : shared,
    granted: scope.spent + sum(({ granted }) => granted),
    spent: scope.spent + sum(({ spent }) => spent),
    reserved: sum((other) => (other.isSilent ? other.granted - other.spent : other.reserved)),
  };
}

function refused(share: Share, refusal: Extract<ReserveAnswer, { readonly kind: 'refused' }>): Taken {
  share.ask = null;
  return refusal;
}

function lesser(a: PicoUsd | null, b: PicoUsd | null): PicoUsd | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
