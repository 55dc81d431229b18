/**
 * What a header's name means to the gateway, looked up by its exact spelling: clients write the same few dozen names
 * in every call, and each step asks something else about them. It knows names only, no values.
 */
import { isKeptResponseHeader, KEPT_REQUEST_HEADERS } from '../providers/kept-headers.ts';
import { isHopByHop } from '../wire/hop-by-hop.ts';
import { isToldByProxy } from '../wire/proxy-headers.ts';
import { isSecretName } from '../wire/secret-name.ts';

/** A spelling has one place, and whoever comes to it last has it. A power of two. */
const PLACES = 4_096;

const GATEWAY_PREFIX = 'x-gateway-';
const RESERVED: ReadonlySet<string> = new Set([
  'x-gateway-key',
  'x-gateway-provider',
  'x-gateway-provider-alias',
  'x-gateway-client',
  'x-gateway-trace-id',
  'x-gateway-span-path',
  'x-gateway-span-name',
]);
/** Redirects, uploads in pieces, jobs. */
const LEADING: ReadonlySet<string> = new Set([
  'location',
  'operation-location',
  'azure-asyncoperation',
  'x-goog-upload-url',
  'x-goog-upload-control-url',
]);
/** What `accept` looks at the value of. */
const FRAMING: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'te',
  'upgrade',
  'expect',
]);

export interface HeaderName {
  readonly lower: string;
  /** Decides what the request is, and is looked at before anything else. */
  readonly isFraming: boolean;
  /** Of a request: read by the gateway, kept as metadata, not for the next hop, or passed on. */
  readonly use: 'reserved' | 'metadata' | 'hop' | 'forward';
  /** Of a request: from a trusted proxy it is that one's word, and is not passed on. */
  readonly isToldByProxy: boolean;
  /** Its value may be a credential. */
  readonly isSecret: boolean;
  /** Of an answer: not passed on. */
  readonly isOfAnswerHop: boolean;
  /** Of an answer: an address that clients go to next. */
  readonly isLeading: boolean;
  /** The log keeps it, of a request and of an answer. */
  readonly isKeptOfRequest: boolean;
  readonly isKeptOfAnswer: boolean;
}

export class HeaderNames {
  readonly #spellings: string[] = new Array<string>(PLACES).fill('');
  readonly #names: HeaderName[] = new Array<HeaderName>(PLACES).fill(describe(''));

  /**
   * `spelling` as received. Not by a `Map`, which would have to hash each of the strings, all of them new: comparing
   * with the one that was in its place last time costs half of that.
   */
  read(spelling: string): HeaderName {
    const place = placeOf(spelling);
    const known = this.#names[place];
    if (known !== undefined && this.#spellings[place] === spelling) return known;
    const name = describe(spelling.toLowerCase());
    this.#spellings[place] = spelling;
    this.#names[place] = name;
    return name;
  }
}

/** By length and four characters: of the names that are in use hardly two meet in one place. */
function placeOf(spelling: string): number {
  const { length } = spelling;
  let mix = Math.imul(length, 31) + spelling.charCodeAt(0);
  mix = Math.imul(mix, 31) + spelling.charCodeAt(length >> 2);
  mix = Math.imul(mix, 31) + spelling.charCodeAt(length >> 1);
  mix = Math.imul(mix, 31) + spelling.charCodeAt(length - 1);
  return (mix ^ (mix >>> 12)) & (PLACES - 1);
}

function describe(lower: string): HeaderName {
  return {
    lower,
    isFraming: FRAMING.has(lower),
    use: readUse(lower),
    isToldByProxy: isToldByProxy(lower),
    isSecret: isSecretName(lower) || lower === 'sec-websocket-protocol',
    isOfAnswerHop: isHopByHop(lower) || lower.startsWith(GATEWAY_PREFIX),
    isLeading: LEADING.has(lower),
    isKeptOfRequest: KEPT_REQUEST_HEADERS.has(lower),
    isKeptOfAnswer: isKeptResponseHeader(lower),
  };
}

function readUse(lower: string): HeaderName['use'] {
  if (RESERVED.has(lower)) return 'reserved';
  if (lower.startsWith(GATEWAY_PREFIX)) return 'metadata';
  if (isHopByHop(lower) || lower === 'host' || lower === 'content-length' || lower === 'expect') return 'hop';
  return 'forward';
}
