/** What a header's name means to the gateway, cached by exact spelling, since clients repeat the same few dozen. */

import { isHopByHop } from '../formats/wire/hop-by-hop.ts';
import { isToldByProxy } from '../formats/wire/proxy-headers.ts';
import { isSecretName } from '../formats/wire/secret-name.ts';
import { isLoggedAnswerHeader, isLoggedRequestHeader } from '../providers/registry.ts';
import { findMeantHeader } from '../vocabulary/misspelt-header.ts';

/** A power of two. Each spelling has one slot, which its latest user holds. */
const PLACES = 4_096;

const GATEWAY_PREFIX = 'x-gateway-';

export type ReservedField =
  | 'runBudget'
  | 'key'
  | 'provider'
  | 'providerAlias'
  | 'client'
  | 'traceId'
  | 'spanPath'
  | 'spanName';

const RESERVED_FIELDS: ReadonlyMap<string, ReservedField> = new Map([
  ['x-gateway-key', 'key'],
  ['x-gateway-provider', 'provider'],
  ['x-gateway-provider-alias', 'providerAlias'],
  ['x-gateway-client', 'client'],
  ['x-gateway-trace-id', 'traceId'],
  ['x-gateway-span-path', 'spanPath'],
  ['x-gateway-span-name', 'spanName'],
  ['x-gateway-budget-usd', 'runBudget'],
]);

const LEADING: ReadonlySet<string> = new Set([
  'location',
  'operation-location',
  'azure-asyncoperation',
  'x-goog-upload-url',
  'x-goog-upload-control-url',
]);
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
  /** Decides how the message is read, and is examined first. */
  readonly isFraming: boolean;
  readonly use: 'reserved' | 'metadata' | 'hop' | 'forward';
  readonly reservedFor: ReservedField | null;
  /** Written by a trusted proxy in a request and not forwarded. */
  readonly isToldByProxy: boolean;
  readonly isSecret: boolean;
  readonly isOfAnswerHop: boolean;
  /** In an answer: an address that clients go to next. */
  readonly isLeading: boolean;
  /** Nearly one of the gateway's own. */
  readonly isMisspelt: boolean;
  /** Logged, from a request and from an answer. */
  readonly isKeptOfRequest: boolean;
  readonly isKeptOfAnswer: boolean;
}

export class HeaderNames {
  readonly #spellings: string[] = new Array<string>(PLACES).fill('');
  readonly #names: HeaderName[] = new Array<HeaderName>(PLACES).fill(describe(''));

  /** `spelling` as received. A `Map` would hash each new string; comparing with the slot's last one costs half. */
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

/** Length and four characters hardly ever collide among the names in use. */
function placeOf(spelling: string): number {
  const { length } = spelling;
  let mix = Math.imul(length, 31) + spelling.charCodeAt(0);
  mix = Math.imul(mix, 31) + spelling.charCodeAt(length >> 2);
  mix = Math.imul(mix, 31) + spelling.charCodeAt(length >> 1);
  mix = Math.imul(mix, 31) + spelling.charCodeAt(length - 1);
  return (mix ^ (mix >>> 12)) & (PLACES - 1);
}

/** Looked up among the literals of the code, which V8 then compares by their address alone. */
function intern(text: string): string {
  return Object.keys({ [text]: null })[0] ?? text;
}

function describe(name: string): HeaderName {
  const lower = intern(name);
  return {
    lower,
    isFraming: FRAMING.has(lower),
    use: readUse(lower),
    reservedFor: RESERVED_FIELDS.get(lower) ?? null,
    isToldByProxy: isToldByProxy(lower),
    isSecret: isSecretName(lower) || lower === 'sec-websocket-protocol',
    isOfAnswerHop: isHopByHop(lower) || lower.startsWith(GATEWAY_PREFIX),
    isLeading: LEADING.has(lower),
    isMisspelt: findMeantHeader(lower) !== null,
    isKeptOfRequest: isLoggedRequestHeader(lower),
    isKeptOfAnswer: isLoggedAnswerHeader(lower),
  };
}

function readUse(lower: string): HeaderName['use'] {
  if (RESERVED_FIELDS.has(lower)) return 'reserved';
  if (lower.startsWith(GATEWAY_PREFIX)) return 'metadata';
  if (isHopByHop(lower) || lower === 'host' || lower === 'content-length' || lower === 'expect') return 'hop';
  return 'forward';
}
