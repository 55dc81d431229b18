/**
 * `fetch`, `WebSocket` and undici: the dispatcher that they share. Node's own undici and one from npm find it under the
 * same global symbols.
 *
 * It is entered where it hands a request to a connection, beneath its interceptors: each redirect passes there too, and a
 * key that was added further out would be copied into the request to wherever the redirect leads.
 */
import { AsyncResource } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { isIP } from 'node:net';
import { isUnreached, type Led, lead } from '../lead.ts';
import { current } from '../state.ts';

interface Options {
  readonly origin?: string | URL;
  readonly path: string;
  readonly headers?: unknown;
  readonly servername?: unknown;
}
type Dispatch = (options: Options, handler: object) => boolean;
interface Dispatcher {
  readonly dispatch: Dispatch;
}
type Restore = () => void;

const NEWER = Symbol.for('undici.globalDispatcher.2');
const SYMBOLS = [NEWER, Symbol.for('undici.globalDispatcher.1')];

/** Returns what gives everything back. */
export function wrapDispatchers(wrapped: WeakSet<object>): Restore {
  // Node makes its dispatcher when one of these is first looked at.
  void globalThis.Response;
  const restores = SYMBOLS.map((symbol) => wrap(symbol, wrapped));
  return () => {
    for (const restore of restores.reverse()) restore();
  };
}

/**
 * A dispatcher that is set later is taken in when it makes its first request, which itself goes past the gateway: nothing
 * tells of it before.
 */
export function watchDispatchers(wrapped: WeakSet<object>, found: () => void): Restore {
  const look = () => {
    if (SYMBOLS.some((symbol) => isNew(Reflect.get(globalThis, symbol), wrapped))) found();
  };
  diagnostics.subscribe('undici:request:create', look);
  return () => void diagnostics.unsubscribe('undici:request:create', look);
}

function isNew(value: unknown, wrapped: WeakSet<object>): value is Dispatcher {
  return isDispatcher(value) && !wrapped.has(value);
}

function wrap(symbol: symbol, wrapped: WeakSet<object>): Restore {
  const dispatcher: unknown = Reflect.get(globalThis, symbol);
  if (!isNew(dispatcher, wrapped)) return () => {};
  if (isForOneAddress(dispatcher) || isWayToOther(dispatcher, wrapped)) {
    wrapped.add(dispatcher);
    return () => wrapped.delete(dispatcher);
  }
  return wrapInside(dispatcher, wrapped) ?? wrapOutside(symbol, dispatcher, wrapped);
}

/**
 * undici's own classes hand a request on by a method under a symbol named `dispatch`. What `compose` returns passes all but
 * `dispatch` itself through to the dispatcher beneath. Null where there is no such method.
 */
function wrapInside(dispatcher: Dispatcher, wrapped: WeakSet<object>): Restore | null {
  const symbol = findSymbol(dispatcher, 'dispatch');
  const original: unknown = symbol === undefined ? undefined : Reflect.get(dispatcher, symbol);
  if (symbol === undefined || typeof original !== 'function') return null;
  wrapped.add(dispatcher);
  if (wrapped.has(original)) return () => wrapped.delete(dispatcher);
  const before = Object.getOwnPropertyDescriptor(dispatcher, symbol);
  const value = function (this: unknown, options: Options, handler: object): boolean {
    return dispatchLed((...args) => original.apply(this, args), options, handler);
  };
  wrapped.add(value);
  Object.defineProperty(dispatcher, symbol, { value, writable: true, configurable: true });
  forgetChain(dispatcher);
  return () => {
    wrapped.delete(dispatcher);
    // Somebody may have wrapped it again since: then ours stays beneath, and does nothing without settings.
    if (Reflect.get(dispatcher, symbol) !== value) return;
    if (before === undefined) Reflect.deleteProperty(dispatcher, symbol);
    else Object.defineProperty(dispatcher, symbol, before);
    forgetChain(dispatcher);
  };
}

/** undici 6 keeps the chain of its interceptors, down to that method, from the first request on. */
function forgetChain(dispatcher: Dispatcher): void {
  const kept = findSymbol(dispatcher, 'Intercepted Dispatch');
  if (kept !== undefined) Reflect.deleteProperty(dispatcher, kept);
}

/** Of a class that we do not know, only what it is given can be changed. In its place, since `compose` lets none be changed. */
function wrapOutside(symbol: symbol, dispatcher: Dispatcher, wrapped: WeakSet<object>): Restore {
  const dispatch: Dispatch = (options, handler) =>
    dispatchLed((...args) => dispatcher.dispatch(...args), options, handler);
  const outside = new Proxy(dispatcher, {
    get(target, name) {
      if (name === 'dispatch') return dispatch;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' && name !== 'constructor' ? value.bind(target) : value;
    },
  });
  wrapped.add(outside);
  Reflect.set(globalThis, symbol, outside);
  return () => {
    if (Reflect.get(globalThis, symbol) === outside) Reflect.set(globalThis, symbol, dispatcher);
  };
}

function dispatchLed(send: Dispatch, options: Options, handler: object): boolean {
  const led = ask(options);
  if (led === null) return send(options, handler);
  const isRepeated = current.settings?.failOpen === true && led.isElsewhere;
  const again = isRepeated ? () => send(options, handler) : null;
  return send(change(options, led), follow(handler, again));
}

function ask(options: Options): Led | null {
  const pairs = listPairs(options.headers);
  const header = (name: string) => pairs.find(([key]) => key.toLowerCase() === name)?.[1];
  const origin = readOrigin(options, header('host'));
  return origin === null ? null : lead({ origin, target: options.path, header });
}

/** `interceptors.dns` puts an IP address in the place of the name, which stays where TLS and the server look for it. */
function readOrigin({ origin, servername }: Options, host: string | undefined): URL | null {
  const text = String(origin ?? '');
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  const isResolved = isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0 && host !== undefined && servername === host;
  return isResolved && URL.canParse(`${url.protocol}//${host}`) ? new URL(`${url.protocol}//${host}`) : url;
}

/** Nothing beneath follows a redirect: what is led here is led for one hop. */
function change(options: Options, led: Led): Options & { readonly maxRedirections: 0 } {
  const pairs = listPairs(options.headers).filter(([name]) => name.toLowerCase() !== 'host');
  if (led.host !== null) pairs.unshift(['host', led.host]);
  const flat = [...pairs, ...Object.entries(led.headers)].flat();
  const { servername: _, ...others } = options;
  const name = new URL(led.origin).hostname.replace(/^\[|\]$/g, '');
  // TLS is with the gateway, also where `Host` is another's.
  const servername = isIP(name) === 0 && led.host !== null ? { servername: name } : {};
  return { ...others, ...servername, origin: led.origin, path: led.target, headers: flat, maxRedirections: 0 };
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

/**
 * A handler that goes on where the call was made: interceptors follow and repeat from inside of it, and a connection that
 * is used again is in the place of who opened it. `again`, where it is not null, is called once, where no connection came about.
 */
function follow(handler: object, again: (() => boolean) | null): object {
  const place = new AsyncResource('tollgate');
  let isFirst = true;
  return new Proxy(handler, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (!ENDINGS.has(name)) return value.bind(target);
      return (...args: unknown[]) => {
        const isAway = again !== null && isFirst && ERRORS.has(name) && args.some(isUnreached);
        if (!isAway) return place.runInAsyncScope(() => value.apply(target, args));
        isFirst = false;
        return again();
      };
    },
  });
}

const ERRORS: ReadonlySet<string | symbol> = new Set(['onError', 'onResponseError']);
/** By which something may be sent again, in the names of undici 6 and of later ones. */
const ENDINGS: ReadonlySet<string | symbol> = new Set([
  ...ERRORS,
  ...['onHeaders', 'onComplete', 'onResponseStart', 'onResponseEnd'],
]);

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && 'dispatch' in value && typeof value.dispatch === 'function';
}

/** A client or pool connects to the address that it was made with, whatever a request says. */
function isForOneAddress(dispatcher: Dispatcher): boolean {
  const url = findSymbol(dispatcher, 'url');
  return (url !== undefined && Reflect.get(dispatcher, url) !== undefined) || 'upstreams' in dispatcher;
}

/** What undici 8 keeps under the older name for older copies of itself: it hands all on to the newer, which may be led already. */
function isWayToOther(dispatcher: Dispatcher, wrapped: WeakSet<object>): boolean {
  const newer: unknown = Reflect.get(globalThis, NEWER);
  return dispatcher.constructor.name === 'Dispatcher1Wrapper' && isDispatcher(newer) && isInside(newer, wrapped);
}

function isInside(dispatcher: Dispatcher, wrapped: WeakSet<object>): boolean {
  const symbol = findSymbol(dispatcher, 'dispatch');
  const method: unknown = symbol === undefined ? undefined : Reflect.get(dispatcher, symbol);
  return typeof method === 'function' && wrapped.has(method);
}

/** undici's symbols are private, and each copy of it has its own. */
function findSymbol(dispatcher: Dispatcher, description: string): symbol | undefined {
  for (let one: object | null = dispatcher; one !== null; one = Object.getPrototypeOf(one)) {
    const found = Object.getOwnPropertySymbols(one).find((symbol) => symbol.description === description);
    if (found !== undefined) return found;
  }
  return undefined;
}
