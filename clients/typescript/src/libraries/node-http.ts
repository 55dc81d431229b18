/** `node:https` and `node:http`, as the AWS SDK uses them: behind its signer, so a signature holds. */
import http, { type ClientRequest, type RequestOptions } from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { isIP } from 'node:net';
import { type Led, lead } from '../lead.ts';

type Request = (...args: readonly unknown[]) => ClientRequest;
interface Given {
  readonly url: URL;
  readonly options: RequestOptions;
  readonly callback: unknown;
}

/** Returns what gives everything back. Programs that had taken `request` out of the module before keep what they have. */
export function wrapNodeHttp(): () => void {
  const originals = {
    http: { request: http.request, get: http.get },
    https: { request: https.request, get: https.get },
  };
  const request =
    (scheme: 'http' | 'https'): Request =>
    (...args) => {
      const original: Request = originals[scheme].request as Request;
      const given = readGiven(scheme, args);
      const led = given === null ? null : ask(given);
      if (given === null || led === null) return original(...args);
      const to = new URL(led.origin);
      const send = originals[to.protocol === 'https:' ? 'https' : 'http'].request as Request;
      return send(change(given.options, led, to, scheme), given.callback);
    };
  const wrappers = [http, https].map((module, index) => {
    const scheme = index === 0 ? 'http' : 'https';
    const wrapped = request(scheme);
    const get: Request = (...args) => {
      const made = wrapped(...args);
      made.end();
      return made;
    };
    Object.assign(module, { request: wrapped, get });
    return { module, wrapped, get, scheme } as const;
  });
  syncBuiltinESMExports();
  return () => {
    for (const { module, wrapped, get, scheme } of wrappers) {
      // Somebody may have wrapped it again since: then ours stays beneath, and does nothing without settings.
      if ((module.request as unknown) === wrapped) module.request = originals[scheme].request;
      if ((module.get as unknown) === get) module.get = originals[scheme].get;
    }
    syncBuiltinESMExports();
  };
}

/** Address, options and callback in the ways in which Node takes them; null for what it will refuse itself. */
function readGiven(scheme: string, args: readonly unknown[]): Given | null {
  const [first, second, third] = args;
  const isAddress = typeof first === 'string' || first instanceof URL;
  const options = isAddress ? (typeof second === 'object' && second !== null ? second : {}) : first;
  const callback = [second, third].find((one) => typeof one === 'function');
  if (typeof options !== 'object' || options === null) return null;
  const given: RequestOptions = options;
  if (given.socketPath !== undefined && given.socketPath !== null) return null;
  if (isAddress) {
    if (!URL.canParse(String(first))) return null;
    const url = new URL(String(first));
    return { url, options: { ...given, path: given.path ?? `${url.pathname}${url.search}` }, callback };
  }
  const host = given.hostname ?? given.host ?? 'localhost';
  const port = given.port ?? given.defaultPort ?? '';
  const protocol = given.protocol ?? `${scheme}:`;
  const text = `${protocol}//${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`;
  return URL.canParse(text) ? { url: new URL(text), options: given, callback } : null;
}

function ask({ url, options }: Given): Led | null {
  const pairs = listPairs(options.headers);
  const header = (name: string) => pairs.find(([key]) => key.toLowerCase() === name)?.[1];
  return lead({ origin: url, target: options.path ?? '/', header });
}

function change(options: RequestOptions, led: Led, to: URL, scheme: 'http' | 'https'): RequestOptions {
  const pairs = listPairs(options.headers).filter(([name]) => led.host !== null || name.toLowerCase() !== 'host');
  if (led.host !== null && !pairs.some(([name]) => name.toLowerCase() === 'host')) pairs.unshift(['Host', led.host]);
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of [...pairs, ...Object.entries(led.headers)]) {
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  const changed: RequestOptions & { servername?: string } = {
    ...options,
    protocol: to.protocol,
    hostname: to.hostname.replace(/^\[|\]$/g, ''),
    port: to.port === '' ? null : to.port,
    path: led.target,
    headers,
  };
  delete changed.host;
  delete changed.defaultPort;
  delete changed.servername;
  // TLS is with the gateway, also where `Host` is another's; an address has no name there.
  if (to.protocol === 'https:') changed.servername = isIP(changed.hostname ?? '') === 0 ? to.hostname : '';
  // An agent speaks one scheme.
  if (to.protocol !== `${scheme}:`) delete changed.agent;
  return changed;
}

function listPairs(headers: RequestOptions['headers']): [string, string][] {
  if (headers === undefined) return [];
  if (Array.isArray(headers)) {
    return headers.flatMap((name, index) =>
      index % 2 === 0 ? [[String(name), String(headers[index + 1])] as [string, string]] : [],
    );
  }
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
}
