/**
 * First step: is this a request that an intermediary may pass on? Refuses what is ambiguous or could be read in two
 * ways by the two sides (RFC 9112 11.2), and leaves everything else as it came, byte for byte. Reads no body.
 */
import { GatewayError } from '../errors.ts';
import type { RequestLine } from '../providers/provider.ts';
import { readNominated } from '../wire/hop-by-hop.ts';
import type { ClientConnection, ClientRequest } from './client-exchange.ts';
import type { HeaderName, HeaderNames } from './header-names.ts';

const MAX_HEADERS = 200;
/** As all that are registered. */
const METHOD = /^[A-Z-]+$/;
/** 15 digits stay exact in a double, and are a petabyte. */
const LENGTH = /^\d{1,15}$/;
/**
 * A name or an address, and a port (RFC 9110 7.2); empty where the target has no authority. Nothing is chosen by it.
 */
const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

export interface AcceptedRequest extends RequestLine {
  /** [name, value, name, value, …] exactly as received: case, order, duplicates; bytes as Latin-1. */
  readonly rawHeaders: readonly string[];
  /** What the names in `rawHeaders` mean. */
  readonly names: readonly HeaderName[];
  /** Headers that `Connection` names, lower-case; they stay on this hop. */
  readonly nominated: readonly string[];
  /** A "?" stood in the target, with or without anything behind it. */
  readonly hasQuery: boolean;
  readonly contentLength: number | null;
  /** True when a body follows. */
  readonly hasBody: boolean;
  readonly expectsContinue: boolean;
  /** `TE: trailers`: takes those of the answer. */
  readonly takesTrailers: boolean;
}

/** A handshake is a request that asks for a websocket, and whose connection is at hand to become one. */
export function accept(incoming: ClientRequest, headerNames: HeaderNames, isHandshake = false): AcceptedRequest {
  const method = incoming.method ?? '';
  if (method === 'CONNECT' || method === 'TRACE') throw new GatewayError('method_unsupported');
  // Node also reads HTTP/0.9, HTTP/2.0 in the form of HTTP/1.1, ICE (with a method of its own), and any method in
  // HTTP/2.
  if (incoming.httpVersionMajor !== 1 || method === 'SOURCE' || !METHOD.test(method))
    throw new GatewayError('request_malformed');
  const isHttp10 = incoming.httpVersionMinor === 0;
  const target = readTarget(incoming.url ?? '', isHandshake, incoming.socket);
  const raw = incoming.rawHeaders;
  if (raw.length > MAX_HEADERS * 2) throw new GatewayError('headers_too_large');

  let hosts = 0;
  let contentLength: number | null = null;
  let isChunked = false;
  let nominated: readonly string[] = [];
  let expectsContinue = false;
  let takesTrailers = false;
  const names: HeaderName[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = headerNames.read(raw[index] ?? '');
    names.push(name);
    if (!name.isFraming) continue;
    const value = raw[index + 1] ?? '';
    switch (name.lower) {
      case 'host':
        hosts += 1;
        if (!HOST.test(value)) throw new GatewayError('host_invalid');
        break;
      case 'content-length':
        if (!LENGTH.test(value)) throw new GatewayError('request_malformed');
        contentLength = Number(value);
        break;
      case 'transfer-encoding':
        if (value.trim().toLowerCase() !== 'chunked' || isChunked || isHttp10) {
          throw new GatewayError('transfer_encoding');
        }
        isChunked = true;
        break;
      case 'connection': {
        const names = readNominated(value);
        if (names === null) throw new GatewayError('connection_header');
        nominated = nominated.length === 0 ? names : [...nominated, ...names];
        break;
      }
      case 'te':
        // HTTP/1.0 has no chunks for them to stand behind.
        takesTrailers ||= !isHttp10 && value.split(',').some((coding) => coding.trim().toLowerCase() === 'trailers');
        break;
      case 'upgrade':
        // Other upgrades (h2c) are offers that may be left unanswered; a websocket client would wait for nothing.
        if (!isHandshake && asksForWebsocket(value)) throw new GatewayError('upgrade_unsupported');
        break;
      case 'expect':
        if (value.trim().toLowerCase() !== '100-continue') throw new GatewayError('expectation_failed');
        // Who speaks HTTP/1.0 does not know the answer (RFC 9110 10.1.1).
        expectsContinue = !isHttp10;
        break;
    }
  }
  if (hosts > 1 || (hosts === 0 && !isHttp10)) throw new GatewayError('host_invalid');
  return {
    method,
    path: target.path,
    query: target.query ?? '',
    hasQuery: target.query !== null,
    rawHeaders: raw,
    names,
    nominated,
    contentLength,
    hasBody: isChunked || (contentLength !== null && contentLength > 0),
    expectsContinue,
    takesTrailers,
    header: (lower) => {
      for (let index = 0; index < names.length; index += 1)
        if (names[index]?.lower === lower) return raw[index * 2 + 1];
      return undefined;
    },
  };
}

/** `value` of `Upgrade`. */
export function asksForWebsocket(value: string | undefined): boolean {
  return value?.toLowerCase().includes('websocket') === true;
}

/** The address at which the connection came in, or this machine's own names for it. */
function isOfGateway(origin: string, { localAddress = '', localPort }: ClientConnection): boolean {
  const url = URL.parse(origin);
  if (url === null || url.username !== '' || url.password !== '') return false;
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return port === localPort && (name === 'localhost' || name === localAddress.replace(/^::ffff:/i, ''));
}

/** Anything but printable ASCII, and the two characters that readers of URLs disagree about. */
const UNACCEPTABLE = /[^\x21-\x7e]|[\\#]/;
/** A client's own doubled slash before the path of a websocket; it is routed as meant. */
const DOUBLED = /^\/\/ws\/[^/]/;
/** Also where only a server that decodes slashes, or takes off parameters, would find one. */
const DOT_SEGMENT = /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?=\/|;|%2f|%5c|%3b|$)/i;

/**
 * Splits the request target. An absolute-form target (`GET http://host/path`) that names this gateway loses its
 * authority; of any other host it is meant for a forward proxy, and its call for somebody else. The result is the
 * received text, neither decoded nor encoded.
 */
function readTarget(
  url: string,
  isHandshake: boolean,
  connection: ClientConnection,
): { path: string; query: string | null } {
  let target = url;
  if (target === '*') throw new GatewayError('method_unsupported');
  const origin = /^https?:\/\/[^/?#]*/i.exec(target)?.[0];
  if (origin !== undefined) {
    if (!isOfGateway(origin, connection)) throw new GatewayError('target_elsewhere');
    target = target.slice(origin.length) || '/';
  }
  const isDoubled = target.startsWith('//') && !(isHandshake && DOUBLED.test(target));
  if (!target.startsWith('/') || isDoubled || UNACCEPTABLE.test(target)) {
    throw new GatewayError('target_invalid');
  }
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  if (DOT_SEGMENT.test(path) || /%00/.test(path)) throw new GatewayError('target_invalid');
  return { path, query: mark === -1 ? null : target.slice(mark + 1) };
}
