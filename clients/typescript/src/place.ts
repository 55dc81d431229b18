/** Where the program is: a run and the steps that are open, as a chain in an AsyncLocalStorage. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { readFrameworks } from './frameworks/read-frameworks.ts';
import { type Metadata, metadataHeaders } from './metadata.ts';

export type { Metadata } from './metadata.ts';

/** A run (with an id) or a step (with a name). `framework` is where the frameworks were when it was opened. */
export interface Place {
  readonly parent: Place | null;
  readonly runId: string | null;
  readonly name: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly framework: readonly string[];
}

const places = new AsyncLocalStorage<Place | null>();
const NONE = Object.freeze({});

/**
 * Calls inside of `work` share a trace id: `id`, a random one by default. Metadata goes along with each of them. A run
 * inside of a run is apart from it. Throws for a name of metadata that the gateway reserves.
 */
export function run<T>(work: () => T): T;
export function run<T>(id: string, work: () => T): T;
export function run<T>(metadata: Metadata, work: () => T): T;
export function run<T>(id: string | undefined, metadata: Metadata, work: () => T): T;
export function run<T>(...given: readonly unknown[]): T {
  const id = given.find((one): one is string => typeof one === 'string');
  const metadata = given.find((one): one is Metadata => typeof one === 'object' && one !== null);
  const work = given.find((one): one is () => T => typeof one === 'function');
  if (work === undefined) throw new TypeError('run needs a function, which is called in the run');
  return enter({ runId: id ?? randomUUID(), name: null, metadata: metadataHeaders(metadata ?? {}) }, work);
}

/** `work` is a step of the run, beneath the steps that are open. */
export function step<T>(name: string, work: () => T): T {
  return enter({ runId: null, name, metadata: NONE }, work);
}

/** `work`, called in the place where `carry` was called: for queues and pools of one's own. Generators run there too. */
export function carry<A extends readonly unknown[], T>(work: (...args: A) => T): (...args: A) => T {
  const place = places.getStore() ?? null;
  return (...args) => places.run(place, () => keepGenerator(place, work(...args)));
}

/** From the outermost to the innermost; only those of the innermost run. */
export function listOpen(): readonly Place[] {
  const found: Place[] = [];
  for (let place = places.getStore() ?? null; place !== null; place = place.parent) {
    found.unshift(place);
    if (place.runId !== null) break;
  }
  return found;
}

function enter<T>(made: Pick<Place, 'runId' | 'name' | 'metadata'>, work: () => T): T {
  const place = Object.freeze({ ...made, parent: places.getStore() ?? null, framework: readFrameworks().names });
  return places.run(place, () => keepGenerator(place, work()));
}

/** The body of a generator runs when it is read, in the place of its reader, so each resumption is led back. */
function keepGenerator<T>(place: Place | null, result: T): T {
  if (!isGenerator(result)) return result;
  for (const name of ['next', 'return', 'throw'] as const) {
    const resume = result[name].bind(result);
    Object.defineProperty(result, name, {
      configurable: true,
      value: (...args: unknown[]) => places.run(place, () => resume(...args)),
    });
  }
  return result;
}

type Resumable = Record<'next' | 'return' | 'throw', (...args: unknown[]) => unknown>;

function isGenerator(value: unknown): value is Resumable {
  const tag = Object.prototype.toString.call(value);
  return tag === '[object Generator]' || tag === '[object AsyncGenerator]';
}
