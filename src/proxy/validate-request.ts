/** First step: refuses requests that could be read in two ways (RFC 9112 11.2). Changes nothing, reads no body. */

import { readNominated } from '../formats/wire/hop-by-hop.ts';
import type { RequestLine } from '../providers/provider.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { AddressToken } from './address-token.ts';
import type { ClientConnection, ClientRequest } from './client-exchange.ts';
import type { HeaderName, HeaderNames } from './header-names.ts';

const MAX_HEADERS = 200;
const METHOD = /^[A-Z-]+$/;
/** 15 digits stay exact in a double. */
const LENGTH = /^\d{1,15}$/;
/** RFC 9110 7.2; empty where the target has no authority. Nothing is chosen by it. */
const HOST = /^(?:[\w.~!$&'()*+;=%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i;

export interface ValidRequest extends RequestLine {
  /** Flat, exactly as received: case, order, duplicates; bytes as Latin-1. */
  readonly rawHeaders: readonly string[];
  readonly names: readonly HeaderName[];
  /** Header names listed in `Connection`, lower-case. */
  readonly nominated: readonly string[];
  /** The target had a "?", even with nothing after it. */
  readonly hasQuery: boolean;
  readonly contentLength: number | null;
  readonly hasBody: boolean;
  readonly expectsContinue: boolean;
  readonly takesTrailers: boolean;
  /** A key or run token that stood in the address; it is not in `path`. */
  readonly addressToken: AddressToken | null;
}

/** `isHandshake`: the request asks for a websocket, and its connection can become one. */
export function validateRequest(incoming: ClientRequest, headerNames: HeaderNames, isHandshake = false): ValidRequest {
  const method = incoming.method ?? '';
  if (method === 'CONNECT' || method === 'TRACE') throw new GatewayError('method_unsupported');
  // Node also accepts HTTP/0.9, HTTP/2.0 written as HTTP/1.1, ICE's SOURCE, and any method in HTTP/2.
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
        takesTrailers ||= !isHttp10 && value.split(',').some((coding) => coding.trim().toLowerCase() === 'trailers');
        break;
      case 'upgrade':
        // Other upgrades such as h2c may be ignored; a websocket client would wait for nothing.
        if (!isHandshake && asksForWebsocket(value)) throw new GatewayError('upgrade_unsupported');
        break;
      case 'expect':
        if (value.trim().toLowerCase() !== '100-continue') throw new GatewayError('expectation_failed');
        // HTTP/1.0 clients do not know 100 Continue (RFC 9110 10.1.1).
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
    addressToken: incoming.addressToken ?? null,
    header: (lower) => {
      for (let index = 0; index < names.length; index += 1)
        if (names[index]?.lower === lower) return raw[index * 2 + 1];
      return undefined;
    },
  };
}

export function asksForWebsocket(value: string | undefined): boolean {
  return value?.toLowerCase().includes('websocket') === true;
}

/** True when `origin` names the address the connection came in at, or localhost. */
function isOfGateway(origin: string, { localAddress = '', localPort }: ClientConnection): boolean {
  const url = URL.parse(origin);
  if (url === null || url.username !== '' || url.password !== '') return false;
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return port === localPort && (name === 'localhost' || name === localAddress.replace(/^::ffff:/i, ''));
}

/** Non-printable or non-ASCII bytes, and the two characters that URL readers disagree about. */
const UNACCEPTABLE = /[^\x21-\x7e]|[\\#]/;
/** A doubled slash that some websocket clients send. */
const DOUBLED = /^\/\/ws\/[^/]/;
/** What the two patterns below need, and most paths have none of it. */
const SUSPECT = /[@%.]/;
/** A gateway key or run token that was not cut off: a second one, or one behind other segments. */
const MISPLACED_TOKEN = /(?:@|%40)tg[kr]_\w{12}/i;
/** Includes encoded forms that only some servers would decode. */
const DOT_SEGMENT = /(?:^|\/|%2f|%5c)(?:\.|%2e){1,2}(?=\/|;|%2f|%5c|%3b|$)/i;

/**
 * Splits the request target without decoding. An absolute target that names this gateway loses its authority; any other
 * is meant for a forward proxy and refused.
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
  if (SUSPECT.test(path)) {
    if (MISPLACED_TOKEN.test(path)) throw new GatewayError('token_misplaced');
    if (DOT_SEGMENT.test(path) || path.includes('%00')) throw new GatewayError('target_invalid');
  }
  return { path, query: mark === -1 ? null : target.slice(mark + 1) };
}
