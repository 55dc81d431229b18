/**
 * Addresses of names, looked up once for all who ask. The system's own look-up (`getaddrinfo`: hosts file, search
 * domains, mDNS, whatever the machine is set up with) blocks one of the process's threads for as long as a name server
 * takes, and only some of the threads may be blocked so; ten calls to one slow name must not take them all. It does not
 * say how long an answer holds, so that is fixed here. It judges no address. Why so: docs/decisions/0029.
 */
import { lookup as lookUpName } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** So long an answer is handed out without a look-up. */
const FRESH_MS = 30_000;
/** So long it is handed out while a new look-up is under way, and when that fails. */
const STALE_MS = 10 * 60_000;
/** After a look-up that failed, the same failure is the answer for so long. */
const FAILED_MS = 1_000;
/** Names that are kept. A client may name a region and with it a host. */
const MAX_NAMES = 1_000;
/** Of the threads for look-ups; the others are left to what else looks names up, such as AWS's credential chain. */
const OUR_SHARE = 0.75;
/** Where the environment does not say. */
const NODE_THREADS = 4;

export interface SharedNames {
  readonly lookUp: LookupFunction;
  /** Nothing could be connected to under this name: the next who asks waits for a new look-up. */
  readonly distrust: (hostname: string) => void;
}

export interface NameOptions {
  readonly lookUp?: LookupFunction;
  readonly maxLookUps?: number;
  readonly nowMs?: () => number;
}

type Answer = Parameters<Parameters<LookupFunction>[2]>;
type Options = Parameters<LookupFunction>[1];
interface Address {
  readonly address: string;
  readonly family: number;
}
type Found = { readonly addresses: readonly Address[] } | { readonly error: NodeJS.ErrnoException };

const TOO_MANY: Found = {
  error: Object.assign(new Error('too many names are being looked up'), { code: 'EAI_AGAIN' }),
};

interface Name {
  readonly hostname: string;
  readonly options: Options;
  addresses: readonly Address[] | null;
  foundAtMs: number;
  isTrusted: boolean;
  failure: NodeJS.ErrnoException | null;
  failedAtMs: number;
  /** A look-up is under way, or waits for its turn. */
  isAsked: boolean;
  readonly waiting: ((found: Found) => void)[];
}

/**
 * How many look-ups the process may have under way. libuv gives half of its threads to them, rounded up; what is more
 * would wait there, in front of what others need.
 */
export function countLookUps(threads: string | undefined): number {
  const given = Number(threads);
  const half = Math.floor(((Number.isInteger(given) && given > 0 ? given : NODE_THREADS) + 1) / 2);
  return Math.max(1, Math.floor(half * OUR_SHARE));
}

export function shareNames(options: NameOptions = {}): SharedNames {
  const { lookUp = lookUpName, nowMs = () => performance.now() } = options;
  const maxLookUps = options.maxLookUps ?? countLookUps(process.env['UV_THREADPOOL_SIZE']);
  /** By name and what else decides about the answer; the one that was asked for last is the last. */
  const names = new Map<string, Name>();
  /** Look-ups that wait for their turn; each name is there once at most, so it is no longer than `names`. */
  const queue: Name[] = [];
  let running = 0;

  function settle(name: Name, found: Found): void {
    name.isAsked = false;
    if ('addresses' in found) {
      Object.assign(name, { addresses: found.addresses, foundAtMs: nowMs(), isTrusted: true, failure: null });
    } else {
      Object.assign(name, { failure: found.error, failedAtMs: nowMs() });
    }
    const old = readStale(name);
    const answer = 'error' in found && old !== null ? { addresses: old } : found;
    // Never before `lookUp` returns: who asks may not be ready for the answer yet.
    for (const answerTo of name.waiting.splice(0)) process.nextTick(answerTo, answer);
  }

  function start(name: Name): void {
    running += 1;
    let isOver = false;
    const onAnswer = (...[error, found, family]: Answer): void => {
      if (isOver) return;
      isOver = true;
      running -= 1;
      const addresses = typeof found === 'string' ? [{ address: found, family: family ?? 0 }] : found;
      settle(name, error === null ? { addresses } : { error });
      const next = queue.shift();
      if (next !== undefined) start(next);
    };
    try {
      lookUp(name.hostname, { ...name.options, all: true }, onAnswer);
    } catch (error) {
      // A name that no look-up takes, too long or with a byte 0.
      onAnswer(error instanceof Error ? error : new Error(String(error)), []);
    }
  }

  function ask(name: Name): void {
    if (name.isAsked) return;
    name.isAsked = true;
    if (running < maxLookUps) start(name);
    // Names that have been found before are those that calls are made to.
    else if (name.addresses !== null) queue.unshift(name);
    else queue.push(name);
  }

  function readStale({ addresses, foundAtMs }: Name): readonly Address[] | null {
    return nowMs() - foundAtMs < STALE_MS ? addresses : null;
  }

  /** What can be said at once; null for nothing. An old answer is renewed meanwhile. */
  function readNow(name: Name): Found | null {
    const now = nowMs();
    const hasJustFailed = name.failure !== null && now - name.failedAtMs < FAILED_MS;
    const old = readStale(name);
    if (old !== null && name.isTrusted) {
      if (now - name.foundAtMs >= FRESH_MS && !hasJustFailed) ask(name);
      return { addresses: old };
    }
    if (hasJustFailed && name.failure !== null) return old === null ? { error: name.failure } : { addresses: old };
    return null;
  }

  function makeRoom(): boolean {
    if (names.size < MAX_NAMES) return true;
    for (const [key, name] of names) {
      if (name.isAsked) continue;
      names.delete(key);
      return true;
    }
    return false;
  }

  function open(hostname: string, given: Options): Name | null {
    const key = `${given.family ?? 0} ${given.hints ?? 0} ${hostname}`;
    const known = names.get(key);
    if (known !== undefined) {
      names.delete(key);
      names.set(key, known);
      return known;
    }
    if (!makeRoom()) return null;
    const name: Name = {
      ...{ hostname, options: { family: given.family ?? 0, hints: given.hints ?? 0 } },
      ...{ addresses: null, foundAtMs: Number.NEGATIVE_INFINITY, isTrusted: true },
      ...{ failure: null, failedAtMs: Number.NEGATIVE_INFINITY, isAsked: false, waiting: [] },
    };
    names.set(key, name);
    return name;
  }

  return {
    lookUp: (hostname, given, callback) => {
      const answer = (found: Found): void => {
        if ('error' in found) {
          callback(found.error, '', 0);
          return;
        }
        const [first] = found.addresses;
        if (given.all === true || first === undefined) callback(null, [...found.addresses]);
        else callback(null, first.address, first.family);
      };
      const name = open(hostname, given);
      const known = name === null ? TOO_MANY : readNow(name);
      if (name === null || known !== null) {
        process.nextTick(answer, known);
        return;
      }
      name.waiting.push(answer);
      ask(name);
    },
    distrust: (hostname) => {
      for (const name of names.values()) if (name.hostname === hostname) name.isTrusted = false;
    },
  };
}
