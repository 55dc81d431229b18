/**
 * What a header's name means to the gateway, looked up by its exact spelling: clients write the same few dozen names
 * in every call, and each step asks something else about them. It knows names only, no values.
 */
import { isKeptResponseHeader, KEPT_REQUEST_HEADERS } from '../providers/kept-headers.ts';
import { isHopByHop } from '../wire/hop-by-hop.ts';

/** Spellings that are remembered; when there are more, it begins anew. */
const MAX_SPELLINGS = 1_024;
/** Longer names are not remembered: no client repeats them. */
const MAX_REMEMBERED_CHARS = 64;

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
/** What `accept` looks at the value of. */
const FRAMING: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'expect',
]);

export interface HeaderName {
  readonly lower: string;
  /** Decides what the request is, and is looked at before anything else. */
  readonly isFraming: boolean;
  /** Of a request: read by the gateway, kept as metadata, not for the next hop, or passed on. */
  readonly use: 'reserved' | 'metadata' | 'hop' | 'forward';
  /** Of an answer: not passed on. */
  readonly isOfAnswerHop: boolean;
  /** The log keeps it, of a request and of an answer. */
  readonly isKeptOfRequest: boolean;
  readonly isKeptOfAnswer: boolean;
}

export class HeaderNames {
  readonly #known = new Map<string, HeaderName>();

  /** `spelling` as received. */
  read(spelling: string): HeaderName {
    const known = this.#known.get(spelling);
    if (known !== undefined) return known;
    const name = describe(spelling.toLowerCase());
    if (spelling.length <= MAX_REMEMBERED_CHARS) {
      if (this.#known.size >= MAX_SPELLINGS) this.#known.clear();
      this.#known.set(spelling, name);
    }
    return name;
  }
}

function describe(lower: string): HeaderName {
  return {
    lower,
    isFraming: FRAMING.has(lower),
    use: readUse(lower),
    isOfAnswerHop: isHopByHop(lower) || lower.startsWith(GATEWAY_PREFIX),
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
