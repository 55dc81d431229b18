/**
 * The program behind a user agent, by one name whichever of its classes or versions was used. Null where nothing is
 * said: clients of Rust (async-openai, rig, genai) send no user agent. `Go-http-client`, `Java-http-client` and
 * `node-fetch` are all that some libraries say of themselves. `X-Gateway-Client` says more where it is set.
 */
import { copyLatin1 } from '../wire/copy-text.ts';

/** Of the first product, less its version. First match wins. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  // The same SDK, called in two ways: `AsyncOpenAI/Python`, `OpenAIClientImpl/Java`, `OpenAIClientAsyncImpl/Java`.
  [/^Async([A-Z]\w*\/\w+)$/, '$1'],
  [/^(\w+?)Client(?:Async)?Impl\/(\w+)$/, '$1/$2'],
  // One library, whose parts for the providers name themselves.
  [/^langchain4j(?:-[\w-]+)?$/i, 'langchain4j'],
];

/** What is built on Google's SDK names itself behind it: `google-genai-sdk/3.6 gl-python/3.11 pydantic-ai/2.62.0`. */
const CARRIER = 'google-genai-sdk';
const OF_CARRIER = /^(?:google-genai-sdk|gl-[\w-]+)$/;

const BETWEEN = /[\s,]+/;
const BEYOND_ASCII = /[\x80-\xff]/;

/** A process meets few programs, and each in call after call. */
const MAX_SEEN = 256;
const SEEN = new Map<string, string | null>();

export function readClientName(userAgent: string | undefined): string | null {
  if (userAgent === undefined) return null;
  const seen = SEEN.get(userAgent);
  if (seen !== undefined) return seen;
  const name = findName(userAgent);
  if (SEEN.size >= MAX_SEEN) SEEN.clear();
  SEEN.set(userAgent, name);
  return name;
}

function findName(userAgent: string): string | null {
  const text = userAgent.trim();
  const end = text.search(BETWEEN);
  const first = withoutVersion(end === -1 ? text : text.slice(0, end));
  if (first === '') return null;
  const built = first === CARRIER ? text.split(BETWEEN).map(withoutVersion).findLast(isProduct) : undefined;
  return decodeName(copyLatin1(built ?? readKnown(first)));
}

function readKnown(product: string): string {
  for (const [pattern, known] of KNOWN) if (pattern.test(product)) return product.replace(pattern, known);
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

/** Header bytes come as Latin-1; they are UTF-8 when they can be, else what they seem. */
function decodeName(name: string): string {
  if (!BEYOND_ASCII.test(name)) return name;
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? name : text;
}
