/**
 * Splits a request's headers in one pass: what the gateway reads (reserved `X-Gateway-*`), what becomes metadata (all
 * other `X-Gateway-*`), what the log keeps (an allow-list), and what goes on to the provider, unchanged.
 */
import { createHash } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { CallFlag } from '../token-usage.ts';
import { decodePercent } from '../wire/percent-decoding.ts';
import { hideSecretForms } from '../wire/secret-form.ts';
import type { AcceptedRequest } from './accept.ts';
import { readClientSignature } from './aws/client-signature.ts';
import { readClientName } from './client-name.ts';
import { hideSent, listSent } from './hide-sent.ts';

/** Of `X-Gateway-`. */
const PREFIX_CHARS = 10;
const MAX_RESERVED_CHARS = 256;
const MAX_TRACE_ID_BYTES = 512;
const KEPT_TRACE_ID_BYTES = 440;
const MAX_SPAN_PATH_BYTES = 8 * 1024;
const MAX_SPAN_NAME_BYTES = 1024;
const MAX_CLIENT_BYTES = 128;
const MAX_METADATA_KEYS = 64;
const MAX_METADATA_VALUE_BYTES = 4 * 1024;
const MAX_METADATA_BYTES = 16 * 1024;

export interface GatewayHeaders {
  readonly key: string | undefined;
  readonly provider: string | undefined;
  readonly providerAlias: string | null;
  readonly client: string | null;
  readonly traceId: string | null;
  readonly spanPath: string | null;
  readonly spanName: string | null;
  readonly metadata: readonly (readonly [string, string])[];
  readonly flags: readonly CallFlag[];
  /**
   * What goes to the provider: a flat array as received, less this hop's headers, `Host`, `Content-Length` and what a
   * trusted proxy has told.
   */
  readonly forwarded: readonly string[];
  readonly kept: readonly (readonly [string, string])[];
  /** There is a header by which proxies say whom they have at their other end. */
  readonly isToldByProxy: boolean;
  /** The credentials among them, to be hidden in what the log keeps. */
  readonly sent: readonly string[];
}

/** `isBehindProxy`: a trusted proxy has sent it on. */
export function splitGatewayHeaders(request: AcceptedRequest, isBehindProxy: boolean): GatewayHeaders {
  const { rawHeaders: raw, names, nominated } = request;
  const forwarded: string[] = [];
  const kept: [string, string][] = [];
  // All there from the start: an object that grows by names that are looked up is slow to read.
  const reserved: Reserved = { ...NONE_RESERVED };
  const metadata: [string, string][] = [];
  let metadataBytes = 0;
  let userAgent: string | undefined;
  const flags: CallFlag[] = [];
  let isToldByProxy = false;

  for (let index = 0; index < names.length; index += 1) {
    const meaning = names[index];
    const name = raw[index * 2] ?? '';
    const value = raw[index * 2 + 1] ?? '';
    if (meaning === undefined) continue;
    if (meaning.isKeptOfRequest) {
      kept.push([meaning.lower, value]);
      if (meaning.lower === 'user-agent') userAgent = value;
    }
    switch (meaning.use) {
      case 'forward':
        if (nominated.length > 0 && nominated.includes(meaning.lower)) break;
        if (meaning.isToldByProxy) {
          isToldByProxy = true;
          if (isBehindProxy && !isSignedByClient(request, meaning.lower)) break;
        }
        forwarded.push(name, value);
        break;
      case 'hop':
        break;
      case 'reserved':
        takeReserved(reserved, meaning.lower, value);
        break;
      case 'metadata':
        if (name.length > PREFIX_CHARS) {
          metadataBytes = addMetadata(
            metadata,
            name.slice(PREFIX_CHARS),
            decodeExtended(decodeValue(value)),
            metadataBytes,
            flags,
          );
        }
        break;
    }
  }

  const sent = listSent(request);
  for (const entry of kept) entry[1] = hideSent(entry[1], sent);
  return {
    key: reserved.key,
    provider: readReserved(reserved.provider) ?? undefined,
    // A label where no alias is configured, and then kept.
    providerAlias: hideIn(readReserved(reserved.providerAlias), sent),
    client: hideIn(cut(readText(reserved.client) ?? readClientName(userAgent), MAX_CLIENT_BYTES), sent),
    traceId: readTraceId(reserved.traceId, flags),
    spanPath: cutSpan(readText(reserved.spanPath), MAX_SPAN_PATH_BYTES, flags),
    spanName: cutSpan(decodeName(reserved.spanName), MAX_SPAN_NAME_BYTES, flags),
    metadata,
    flags,
    forwarded,
    kept,
    isToldByProxy,
    sent,
  };
}

/** Without it the client's signature for AWS would not hold; and then it is the client's own. */
function isSignedByClient(request: AcceptedRequest, lower: string): boolean {
  return readClientSignature(request)?.signedHeaders.includes(lower) === true;
}

function hideIn(text: string | null, sent: readonly string[]): string | null {
  return text === null ? null : hideSent(hideSecretForms(text), sent);
}

type Field = 'key' | 'provider' | 'providerAlias' | 'client' | 'traceId' | 'spanPath' | 'spanName';

type Reserved = Record<Field, string | undefined>;

const NONE_RESERVED: Readonly<Reserved> = {
  key: undefined,
  provider: undefined,
  providerAlias: undefined,
  client: undefined,
  traceId: undefined,
  spanPath: undefined,
  spanName: undefined,
};

const FIELDS: ReadonlyMap<string, Field> = new Map([
  ['x-gateway-key', 'key'],
  ['x-gateway-provider', 'provider'],
  ['x-gateway-provider-alias', 'providerAlias'],
  ['x-gateway-client', 'client'],
  ['x-gateway-trace-id', 'traceId'],
  ['x-gateway-span-path', 'spanPath'],
  ['x-gateway-span-name', 'spanName'],
]);

/** One rule for all of them: an empty one was not sent, and two leave open which is meant. */
function takeReserved(reserved: Reserved, lower: string, value: string): void {
  const field = FIELDS.get(lower);
  if (field === undefined || value.trim() === '') return;
  if (reserved[field] !== undefined) throw new GatewayError('header_repeated');
  reserved[field] = value;
}

function addFlag(flags: CallFlag[], flag: CallFlag): void {
  if (!flags.includes(flag)) flags.push(flag);
}

function readReserved(value: string | undefined): string | null {
  if (value === undefined) return null;
  const trimmed = value.trim();
  if (trimmed.length > MAX_RESERVED_CHARS || /[^\x20-\x7e]/.test(trimmed)) {
    throw new GatewayError('header_malformed');
  }
  return trimmed;
}

/** Header bytes come as Latin-1; they are UTF-8 when they can be, else what they seem. */
function decodeValue(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is for bytes beyond ASCII.
  if (/^[\x00-\x7f]*$/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? value : text;
}

/** Clients that can send ASCII only write it as a step of the path is written: `Pr%C3%BCfung`. */
function decodeName(value: string | undefined): string | null {
  const text = readText(value);
  return text?.includes('%') === true ? withoutNul(text, decodePercent(text)) : text;
}

/** Charset, language, value (RFC 8187 3.2.1): what such clients write for a value beyond ASCII. */
const EXTENDED = /^utf-8'[\w-]*'((?:%[\da-f]{2}|[\w!#$&+.^`|~-])*)$/i;

/** Any other value stays as it is, and so does one whose escapes are no UTF-8. */
function decodeExtended(value: string): string {
  const encoded = EXTENDED.exec(value)?.[1];
  if (encoded === undefined) return value;
  try {
    return withoutNul(value, decodeURIComponent(encoded));
  } catch {
    return value;
  }
}

/** No database keeps a text with a NUL in it. */
function withoutNul(sent: string, decoded: string): string {
  return decoded.includes('\0') ? sent : decoded;
}

function readText(value: string | undefined): string | null {
  if (value === undefined || value === '') return null;
  return decodeValue(value);
}

/** Cuts at a character's boundary so that at most `maxBytes` of UTF-8 remain. */
function cut(text: string | null, maxBytes: number): string | null {
  if (text === null || text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Too long a trace id still makes one run, and does not collide with another: its beginning, `~` and its SHA-256. */
function readTraceId(value: string | undefined, flags: CallFlag[]): string | null {
  const text = readText(value);
  if (text === null || Buffer.byteLength(text) <= MAX_TRACE_ID_BYTES) return text;
  addFlag(flags, 'trace_id_cut');
  return `${cut(text, KEPT_TRACE_ID_BYTES)}~${createHash('sha256').update(text).digest('hex')}`;
}

function cutSpan(text: string | null, maxBytes: number, flags: CallFlag[]): string | null {
  const short = cut(text, maxBytes);
  if (short !== text) addFlag(flags, 'span_cut');
  return short;
}

/**
 * Adds one entry within the limits; a repeated name (names have no case) is joined as HTTP would. Returns the bytes
 * held.
 */
function addMetadata(
  metadata: [string, string][],
  name: string,
  value: string,
  heldBytes: number,
  flags: CallFlag[],
): number {
  const lower = name.toLowerCase();
  const found = metadata.find(([other]) => other.toLowerCase() === lower);
  const joined = found === undefined ? value : `${found[1]}, ${value}`;
  const bytes = Buffer.byteLength(joined);
  const held =
    heldBytes -
    (found === undefined ? 0 : Buffer.byteLength(found[1])) +
    bytes +
    (found === undefined ? name.length : 0);
  const isTooMany = found === undefined && metadata.length >= MAX_METADATA_KEYS;
  if (isTooMany || bytes > MAX_METADATA_VALUE_BYTES || held > MAX_METADATA_BYTES) {
    addFlag(flags, 'metadata_cut');
    return heldBytes;
  }
  if (found === undefined) metadata.push([name, joined]);
  else found[1] = joined;
  return held;
}
