/**
 * Caches and shares name look-ups. `getaddrinfo` blocks a thread for as long as a name server takes, and few threads
 * may block so. It reports no lifetime, so that is fixed here. See docs/decisions/0029.
 */
import { lookup as lookUpName } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Answers are used this long without a new look-up. */
const FRESH_MS = 30_000;
/** Answers are used this long while a new look-up is under way or fails. */
const STALE_MS = 10 * 60_000;
/** A failure is repeated this long. */
const FAILED_MS = 1_000;
/** Bounds the cache, since a client may name a region and with it a host. */
const MAX_NAMES = 1_000;
/** Our share of the look-up threads; AWS's credential chain needs some as well. */
const OUR_SHARE = 0.75;
const NODE_THREADS = 4;

export interface SharedNames {
  readonly lookUp: LookupFunction;
  /** No address of this name could be connected to: the next caller waits for a new look-up. */
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

function tooMany(hostname: string): Found {
  return { error: Object.assign(new Error('too many names are being looked up'), { code: 'EAI_AGAIN', hostname }) };
}

interface Name {
  readonly hostname: string;
  readonly options: Options;
  addresses: readonly Address[] | null;
  foundAtMs: number;
  isTrusted: boolean;
  failure: NodeJS.ErrnoException | null;
  failedAtMs: number;
  /** A look-up is running or queued. */
  isAsked: boolean;
  readonly waiting: ((found: Found) => void)[];
}

/** How many look-ups may run at once. libuv gives them half of its threads, rounded up. */
export function countLookUps(threads: string | undefined): number {
  const given = Number(threads);
  const half = Math.floor(((Number.isInteger(given) && given > 0 ? given : NODE_THREADS) + 1) / 2);
  return Math.max(1, Math.floor(half * OUR_SHARE));
}

export function shareNames(options: NameOptions = {}): SharedNames {
  const { lookUp = lookUpName, nowMs = () => performance.now() } = options;
  const maxLookUps = options.maxLookUps ?? countLookUps(process.env['UV_THREADPOOL_SIZE']);
  /** By name and options, in order of last use. */
  const names = new Map<string, Name>();
  /** Queued look-ups, each name at most once. */
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
    // Never before `lookUp` returns, since the caller may not be ready.
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
      // The name is too long or has a NUL byte.
      onAnswer(error instanceof Error ? error : new Error(String(error)), []);
    }
  }

  function ask(name: Name): void {
    if (name.isAsked) return;
    name.isAsked = true;
    if (running < maxLookUps) start(name);
    // Names found before are those that calls are made to.
    else if (name.addresses !== null) queue.unshift(name);
    else queue.push(name);
  }

  function readStale({ addresses, foundAtMs }: Name): readonly Address[] | null {
    return nowMs() - foundAtMs < STALE_MS ? addresses : null;
  }

  /** The immediate answer, or null. Renews an old one in the background. */
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
      hostname,
      options: { family: given.family ?? 0, hints: given.hints ?? 0 },
      addresses: null,
      foundAtMs: Number.NEGATIVE_INFINITY,
      isTrusted: true,
      failure: null,
      failedAtMs: Number.NEGATIVE_INFINITY,
      isAsked: false,
      waiting: [],
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
      const known = name === null ? tooMany(hostname) : readNow(name);
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
