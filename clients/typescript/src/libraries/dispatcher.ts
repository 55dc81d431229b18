/**
 * `fetch`, `WebSocket` and undici: the dispatcher that they share, which each redirect passes too. Node's own undici and
 * one from npm find it under the same global symbols.
 */
import { isUnreached, type Led, lead } from '../lead.ts';
import { current } from '../state.ts';

interface Options {
  readonly origin?: string | URL;
  readonly path: string;
  readonly headers?: unknown;
}
type Dispatch = (options: Options, handler: object) => boolean;
interface Dispatcher {
  dispatch: Dispatch;
}

const SYMBOLS = ['undici.globalDispatcher.2', 'undici.globalDispatcher.1'].map((name) => Symbol.for(name));

/** Returns what gives everything back. A dispatcher that is set later is not wrapped until the next call. */
export function wrapDispatchers(wrapped: WeakSet<object>): () => void {
  // Node makes its dispatcher when one of these is first looked at.
  void globalThis.Response;
  const restore = SYMBOLS.map((symbol) => {
    const dispatcher: unknown = Reflect.get(globalThis, symbol);
    return isDispatcher(dispatcher) && !wrapped.has(dispatcher) ? wrap(dispatcher, wrapped) : () => {};
  });
  return () => restore.forEach((give) => void give());
}

function wrap(dispatcher: Dispatcher, wrapped: WeakSet<object>): () => void {
  const original = dispatcher.dispatch;
  const dispatch: Dispatch = (options, handler) => {
    const led = ask(options);
    if (led === null) return original.call(dispatcher, options, handler);
    const again = () => original.call(dispatcher, options, handler);
    const to = current.settings?.failOpen === true ? orElse(handler, again) : handler;
    return original.call(dispatcher, change(options, led), to);
  };
  const before = Object.getOwnPropertyDescriptor(dispatcher, 'dispatch');
  Object.defineProperty(dispatcher, 'dispatch', { value: dispatch, writable: true, configurable: true });
  wrapped.add(dispatcher);
  return () => {
    wrapped.delete(dispatcher);
    // Somebody may have wrapped it again since: then ours stays beneath, and does nothing without settings.
    if (dispatcher.dispatch !== dispatch) return;
    if (before === undefined) Reflect.deleteProperty(dispatcher, 'dispatch');
    else Object.defineProperty(dispatcher, 'dispatch', before);
  };
}

function ask({ origin, path, headers }: Options): Led | null {
  const text = String(origin ?? '');
  if (!URL.canParse(text)) return null;
  const pairs = listPairs(headers);
  const header = (name: string) => pairs.find(([key]) => key.toLowerCase() === name)?.[1];
  return lead({ origin: new URL(text), target: path, header });
}

function change(options: Options, led: Led): Options {
  const pairs = listPairs(options.headers).filter(([name]) => name.toLowerCase() !== 'host');
  if (led.host !== null) pairs.unshift(['host', led.host]);
  const flat = [...pairs, ...Object.entries(led.headers)].flat();
  return { ...options, origin: led.origin, path: led.target, headers: flat };
}

/** Flat names and values, pairs, or an object, as undici takes them. */
function listPairs(headers: unknown): [string, string][] {
  if (headers === null || headers === undefined || typeof headers !== 'object') return [];
  if (Array.isArray(headers) && !headers.every(Array.isArray)) {
    const flat = headers.map(String);
    return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as [string, string]] : []));
  }
  const entries: Iterable<unknown> =
    Symbol.iterator in headers ? (headers as Iterable<unknown>) : Object.entries(headers);
  return Array.from(entries).flatMap((entry) => {
    const [name, value]: unknown[] = Array.isArray(entry) ? entry : [];
    const values: unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value];
    return values.map((one): [string, string] => [String(name), String(one)]);
  });
}

/** A handler that begins anew, once, where no connection came about. */
function orElse(handler: object, again: () => boolean): object {
  let isFirst = true;
  return new Proxy(handler, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'onError' && name !== 'onResponseError') return value.bind(target);
      return (...args: unknown[]) => {
        if (!isFirst || !args.some(isUnreached)) return value.apply(target, args);
        isFirst = false;
        return again();
      };
    },
  });
}

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function';
}
