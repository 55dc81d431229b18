/**
 * Keeps the limits of a node for all its proxy processes. A process takes credits for a call, and some to spare; where
 * another one needs them, what it has to spare is recalled first. So a limit is whole whichever process a call comes to.
 */
import { performance } from 'node:perf_hooks';
import {
  type Credits,
  isNothing,
  type LimitAnswer,
  type LimitAsk,
  type LimitRecall,
  type LimitRefusal,
  type LimitReturn,
  type LimitUse,
} from '../../vocabulary/limit.ts';
import { overflowOf } from '../../vocabulary/limit-subjects.ts';
import { LimitAccount } from './limit-account.ts';

/** Subjects with something in use. Values beyond share one account a limit. */
const MAX_ACCOUNTS = 20_000;
/** Of the least used, tried for one that nothing is in use of. */
const TRIED_ACCOUNTS = 16;
/** How long an ask waits for what others have to spare. */
const RECALL_MS = 100;
const SHOWN_USES = 1_000;

export interface LimitChild {
  readonly send: (message: LimitAnswer | LimitRecall) => boolean;
}

export interface LimitBank {
  readonly ask: (child: LimitChild, ask: LimitAsk) => void;
  readonly giveBack: (child: LimitChild, message: LimitReturn) => void;
  readonly ended: (child: LimitChild) => void;
  /** This node's share is one of so many. */
  readonly setNodes: (count: number) => void;
  /** The latest used first. */
  readonly listUse: () => readonly LimitUse[];
}

interface Booked {
  readonly account: LimitAccount<LimitChild>;
  /** Asks that wait for `missing`. */
  waiting: { readonly child: LimitChild; readonly ask: LimitAsk }[];
  readonly missing: Set<LimitChild>;
  timer: NodeJS.Timeout | null;
  recalledAtMs: number;
}

export function createLimitBank(nowMs: () => number = () => performance.now()): LimitBank {
  /** By subject, the least recently asked for first. */
  const booked = new Map<string, Booked>();
  let share = 1;

  function find(subject: string): readonly [subject: string, Booked] {
    const known = booked.get(subject);
    if (known !== undefined) {
      booked.delete(subject);
      booked.set(subject, known);
      return [subject, known];
    }
    const overflow = overflowOf(subject);
    if (booked.size >= MAX_ACCOUNTS && !makeRoom() && overflow !== null && overflow !== subject) return find(overflow);
    const made = {
      account: new LimitAccount<LimitChild>(),
      waiting: [],
      missing: new Set<LimitChild>(),
      timer: null,
      recalledAtMs: Number.NEGATIVE_INFINITY,
    };
    booked.set(subject, made);
    return [subject, made];
  }

  function makeRoom(): boolean {
    let tried = 0;
    for (const [subject, { account, waiting }] of booked) {
      if (waiting.length === 0 && account.isIdle(nowMs())) return booked.delete(subject);
      tried += 1;
      if (tried === TRIED_ACCOUNTS) return false;
    }
    return false;
  }

  function answer(child: LimitChild, ask: number, subject: string, taken: Credits | LimitRefusal): void {
    const isRefused = 'kind' in taken;
    child.send({
      type: 'limit-answer',
      ask,
      subject,
      granted: isRefused ? null : taken,
      refusal: isRefused ? taken : null,
    });
  }

  /** Asks the others once, and not again while they have just answered: a limit that is used up stays cheap. */
  function recall(subject: string, book: Booked, child: LimitChild): boolean {
    if (book.missing.size > 0) return true;
    if (nowMs() - book.recalledAtMs < RECALL_MS) return false;
    book.recalledAtMs = nowMs();
    for (const other of book.account.listSparing(child))
      if (other.send({ type: 'limit-recall', subject })) book.missing.add(other);
    if (book.missing.size === 0) return false;
    book.timer = setTimeout(() => settle(subject, book), RECALL_MS);
    return true;
  }

  function settle(subject: string, book: Booked): void {
    if (book.timer !== null) clearTimeout(book.timer);
    book.timer = null;
    book.missing.clear();
    for (const { child, ask } of book.waiting.splice(0))
      answer(child, ask.ask, subject, book.account.take(child, ask.need, ask.isAlone, nowMs()));
  }

  function noteReturned(subject: string, book: Booked, child: LimitChild): void {
    if (book.missing.delete(child) && book.missing.size === 0) settle(subject, book);
  }

  return {
    ask: (child, ask) => {
      if (!isNothing(ask.back)) booked.get(ask.subject)?.account.giveBack(child, ask.back, false, nowMs());
      const [subject, book] = find(ask.subject);
      book.account.setLimit(ask.limit, share, nowMs());
      const taken = book.account.take(child, ask.need, ask.isAlone, nowMs());
      if ('kind' in taken && recall(subject, book, child)) book.waiting.push({ child, ask });
      else answer(child, ask.ask, subject, taken);
    },
    giveBack: (child, { subject, credits, isAll }) => {
      const book = booked.get(subject);
      if (book === undefined) return;
      book.account.giveBack(child, credits, isAll, nowMs());
      if (isAll) noteReturned(subject, book, child);
    },
    ended: (child) => {
      for (const [subject, book] of booked) {
        book.account.forget(child);
        book.waiting = book.waiting.filter((one) => one.child !== child);
        noteReturned(subject, book, child);
      }
    },
    setNodes: (count) => {
      share = 1 / Math.max(1, count);
    },
    listUse: () =>
      [...booked]
        .slice(-SHOWN_USES)
        .reverse()
        .map(([subject, { account }]) => ({ subject, ...account.use(nowMs()) })),
  };
}
