/**
 * `node:http2`, as the AWS SDK's clients for Bedrock use it by default. A session is opened before anything is known of its
 * requests, so it goes to the gateway, and what is not led takes one of its own, to where the program wanted it.
 */
import http2, {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';
import { type Led, lead } from '../lead.ts';
import { isAwsHost, readProviderOfHost } from '../providers.ts';
import { current } from '../state.ts';

type Connect = (...args: readonly unknown[]) => ClientHttp2Session;
type Headers = OutgoingHttpHeaders | readonly string[];
type Request = (headers?: Headers, options?: ClientSessionRequestOptions) => ClientHttp2Stream;

/** The gateway speaks HTTP/1.1 to providers, which cannot carry it. */
const BOTH_WAYS = /\/invoke-with-bidirectional-stream(?:\?|$)/;

/** Returns what gives everything back. Programs that had taken `connect` out of the module before keep what they have. */
export function wrapNodeHttp2(): () => void {
  const original: Connect = http2.connect as Connect;
  const connect: Connect = (...args) => {
    const origin = readOrigin(args);
    const options = readOptions(args);
    const to = origin === null || options.createConnection !== undefined ? null : chooseGateway(origin);
    if (origin === null || to === null) return original(...args);
    const { servername: _, ...others } = options;
    const session = original(
      to,
      others,
      args.find((one) => typeof one === 'function'),
    );
    session.request = leadRequests(session, origin, () => original(args[0], options)) as typeof session.request;
    return session;
  };
  Object.assign(http2, { connect });
  syncBuiltinESMExports();
  return () => {
    // Somebody may have wrapped it again since: then ours stays beneath, and does nothing without settings.
    if ((http2.connect as unknown) === connect) Object.assign(http2, { connect: original });
    syncBuiltinESMExports();
  };
}

function readOrigin([authority]: readonly unknown[]): URL | null {
  return URL.canParse(String(authority)) ? new URL(String(authority)) : null;
}

function readOptions([, options]: readonly unknown[]): SecureClientSessionOptions {
  return typeof options === 'object' && options !== null ? options : {};
}

/** The gateway's address for AWS's hosts, and for its own. Null for all others. */
function chooseGateway(origin: URL): string | null {
  const { settings } = current;
  if (settings === null) return null;
  if (origin.origin === settings.origin) return settings.origin;
  const isPlain = origin.protocol === 'https:' && origin.port === '';
  const isKnown = readProviderOfHost(origin.hostname, true) !== null && isAwsHost(origin.hostname);
  return isPlain && isKnown ? settings.origin : null;
}

/** `openOwn`: a session to where the program wanted it. */
function leadRequests(session: ClientHttp2Session, origin: URL, openOwn: () => ClientHttp2Session): Request {
  const request = session.request.bind(session) as Request;
  return (headers = {}, options) => {
    const pairs = listPairs(headers);
    const led = ask(origin, pairs);
    if (led !== null) return request(change(pairs, led, session), options);
    if (origin.origin === current.settings?.origin) return request(headers, options);
    const own = openOwn();
    const stream = (own.request as Request)(headers, options);
    own.on('error', (error) => stream.destroy(error));
    stream.once('close', () => own.close());
    return stream;
  };
}

function ask(origin: URL, pairs: readonly (readonly [string, string])[]): Led | null {
  const header = (name: string) => pairs.find(([key]) => key.toLowerCase() === name)?.[1];
  const target = header(':path') ?? '/';
  // The signature of a request in HTTP/2 covers `:authority`, and holds only where all of the way is HTTP/2.
  const isSigned = (header('authorization') ?? '').startsWith('AWS4-') || target.includes('X-Amz-Signature=');
  return (isSigned && origin.origin !== current.settings?.origin) || BOTH_WAYS.test(target)
    ? null
    : lead({ origin, target, header });
}

function change(
  pairs: readonly (readonly [string, string])[],
  led: Led,
  session: ClientHttp2Session,
): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {};
  const added = Object.entries(led.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const isReplaced = (name: string) =>
    name === ':path' || name === ':scheme' || name === ':authority' || name === 'host';
  for (const [name, value] of [...pairs.filter(([key]) => !isReplaced(key.toLowerCase())), ...added]) {
    const before = headers[name];
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  const authority = led.host ?? new URL(led.origin).host;
  return { ':path': led.target, ':authority': authority, ':scheme': session.encrypted ? 'https' : 'http', ...headers };
}

function listPairs(headers: Headers): [string, string][] {
  if (isFlat(headers)) {
    return headers.flatMap((name, index) =>
      index % 2 === 0 ? [[name, headers[index + 1] ?? ''] as [string, string]] : [],
    );
  }
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  );
}

function isFlat(headers: Headers): headers is readonly string[] {
  return Array.isArray(headers);
}
