/** The client program by its user agent: a known one, or the product's name without version or class. */
import type { Client, HeaderReader } from '../clients/client.ts';
import { KNOWN_NAMES } from '../clients/known-names.ts';
import { CLIENTS } from '../clients/registry.ts';
import { copyLatin1 } from '../formats/wire/copy-text.ts';
import { hideSecretForms } from '../formats/wire/secret-form.ts';

/** What a user agent tells. */
interface ReadUserAgent {
  readonly name: string | null;
  readonly client: Client | null;
  /** Clients that have it too, among others. */
  readonly candidates: readonly Client[];
}

export interface NamedClient {
  readonly name: string | null;
  /** Null for programs that are known by name only. */
  readonly client: Client | null;
}

/** Libraries built on Google's SDK append their name: `google-genai-sdk/3.6 gl-python/3.11 pydantic-ai/2.62.0`. */
const CARRIER = 'google-genai-sdk';
const OF_CARRIER = /^(?:google-genai-sdk|gl-[\w-]+)$/;

const BETWEEN = /[\s,]+/;
const BEYOND_ASCII = /[\x80-\xff]/;

/** Bounds the cache; a process meets few programs. */
const MAX_SEEN = 256;

const NOBODY: ReadUserAgent = Object.freeze({ name: null, client: null, candidates: [] });

export class ClientNames {
  readonly #seen = new Map<string, ReadUserAgent>();

  /** Secrets in the name are hidden, as far as their form tells. */
  read(userAgent: string | undefined, header: HeaderReader): NamedClient {
    const read = this.#readUserAgent(userAgent);
    for (const client of read.candidates) if (client.isOwn?.(header) === true) return { name: client.name, client };
    return read;
  }

  #readUserAgent(userAgent: string | undefined): ReadUserAgent {
    if (userAgent === undefined) return NOBODY;
    const seen = this.#seen.get(userAgent);
    if (seen !== undefined) return seen;
    const found = readUserAgent(userAgent);
    if (this.#seen.size >= MAX_SEEN) this.#seen.clear();
    this.#seen.set(userAgent, found);
    return found;
  }
}

function readUserAgent(userAgent: string): ReadUserAgent {
  const text = userAgent.trim();
  const alike = CLIENTS.filter((client) => client.userAgent.test(text));
  const client = alike.find(({ isOwn }) => isOwn === undefined) ?? null;
  const candidates = client === null ? alike : [];
  return { name: client?.name ?? findName(text), client, candidates };
}

function findName(text: string): string | null {
  const end = text.search(BETWEEN);
  const first = withoutVersion(end === -1 ? text : text.slice(0, end));
  if (first === '') return null;
  const built = first === CARRIER ? text.split(BETWEEN).map(withoutVersion).findLast(isProduct) : undefined;
  return hideSecretForms(decodeHeaderText(copyLatin1(readKnown(built ?? first))));
}

function readKnown(product: string): string {
  for (const [pattern, known] of KNOWN_NAMES) if (pattern.test(product)) return product.replace(pattern, known);
  return product;
}

function isProduct(name: string): boolean {
  return /^[\w-]+$/.test(name) && !OF_CARRIER.test(name);
}

/** `python-httpx/0.27` → `python-httpx`. */
function withoutVersion(product: string): string {
  const version = product.search(/\/v?\d/);
  return version === -1 ? product : product.slice(0, version);
}

/** Header bytes come as Latin-1 and are decoded as UTF-8 where that is valid. */
export function decodeHeaderText(value: string): string {
  if (!BEYOND_ASCII.test(value)) return value;
  const text = Buffer.from(value, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? value : text;
}
