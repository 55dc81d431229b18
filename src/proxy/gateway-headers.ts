/** Splits a request's headers in one pass: gateway headers, metadata, logged headers, and forwarded ones. */
import { createHash } from 'node:crypto';
import { MAX_BUDGET_USD } from '../budgets/budget.ts';
import type { AgentOfCall, Client } from '../clients/client.ts';
import { decodePercent } from '../formats/wire/percent-decoding.ts';
import { hasSecretForm, hideSecretForms } from '../formats/wire/secret-form.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { CallFlag } from '../vocabulary/token-usage.ts';
import { type PicoUsd, parseUsd } from '../vocabulary/usd.ts';
import { type ClientNames, decodeHeaderText } from './client-names.ts';
import type { ReservedField } from './header-names.ts';
import { addSent, redactSent } from './redact-sent.ts';
import { RequestSecrets } from './request-secrets.ts';
import type { ValidRequest } from './validate-request.ts';

const PREFIX_CHARS = 10;
const MAX_RESERVED_CHARS = 256;
const MAX_TRACE_ID_BYTES = 512;
const KEPT_TRACE_ID_BYTES = 440;
const MAX_SPAN_PATH_BYTES = 8 * 1024;
const MAX_SPAN_NAME_BYTES = 1024;
const MAX_CLIENT_BYTES = 128;
export const MAX_METADATA_KEYS = 64;
const MAX_METADATA_VALUE_BYTES = 4 * 1024;
const MAX_METADATA_BYTES = 16 * 1024;

export interface GatewayHeaders {
  readonly key: string | undefined;
  readonly provider: string | undefined;
  readonly providerAlias: string | null;
  readonly client: string | null;
  /** What a known client says of its session and agent; null for all others. */
  readonly agent: AgentOfCall | null;
  /** What reads it. */
  readonly agentClient: Client | null;
  readonly traceId: string | null;
  readonly spanPath: string | null;
  readonly spanName: string | null;
  /** What the call says of the budget of its run. */
  readonly runBudget: PicoUsd | null;
  readonly metadata: readonly (readonly [string, string])[];
  readonly flags: readonly CallFlag[];
  /** Flat, as received, without hop-by-hop headers, `Host`, `Content-Length` and a trusted proxy's headers. */
  readonly forwarded: readonly string[];
  readonly loggedHeaders: readonly (readonly [string, string])[];
  /** A header is present in which proxies name their client. */
  readonly isToldByProxy: boolean;
  /** Credentials in the headers, to be hidden in the log. */
  readonly sent: readonly string[];
  readonly secrets: RequestSecrets;
}

/**
 * `isBehindProxy`: a trusted proxy forwarded the request. `secrets`: the request's, where they are known already. Throws
 * `header_repeated`, `header_malformed` and `run_budget_malformed`.
 */
export function splitGatewayHeaders(
  request: ValidRequest,
  isBehindProxy: boolean,
  clientNames: ClientNames,
  secrets = new RequestSecrets(request),
): GatewayHeaders {
  const { rawHeaders: raw, names, nominated, addressToken } = request;
  const forwarded: string[] = [];
  const logged: [string, string][] = [];
  // All fields exist from the start: an object that grows by looked-up names is slow to read.
  const reserved: Reserved = { ...NONE_RESERVED };
  const metadata: [string, string][] = [];
  let metadataBytes = 0;
  let userAgent: string | undefined;
  const flags: CallFlag[] = [];
  const sent: string[] = [];
  if (addressToken !== null) addSent(sent, addressToken.text);
  let isToldByProxy = false;

  for (let index = 0; index < names.length; index += 1) {
    const meaning = names[index];
    const name = raw[index * 2] ?? '';
    const value = raw[index * 2 + 1] ?? '';
    if (meaning === undefined) continue;
    if (meaning.isSecret) addSent(sent, value);
    if (meaning.isMisspelt) {
      addFlag(flags, 'header_misspelt');
      // The name alone tells the slip, and the value may be a key.
      if (!meaning.isKeptOfRequest) logged.push([meaning.lower, '***']);
    }
    if (meaning.isKeptOfRequest) {
      logged.push([meaning.lower, value]);
      if (meaning.lower === 'user-agent') userAgent = value;
    }
    switch (meaning.use) {
      case 'forward':
        if (nominated.length > 0 && nominated.includes(meaning.lower)) break;
        if (meaning.isToldByProxy) {
          isToldByProxy = true;
          if (isBehindProxy && !isSignedByClient(secrets, meaning.lower)) break;
        }
        // Such as the `Referer` of a page.
        if (addressToken !== null && value.includes(addressToken.text)) break;
        forwarded.push(name, value);
        break;
      case 'hop':
        break;
      case 'reserved':
        takeReserved(reserved, meaning.reservedFor, value);
        break;
      case 'metadata':
        if (name.length > PREFIX_CHARS) {
          metadataBytes = addMetadata(
            metadata,
            name.slice(PREFIX_CHARS),
            decodeExtended(decodeHeaderText(value)),
            metadataBytes,
            flags,
          );
        }
        break;
    }
  }

  for (const entry of logged) entry[1] = redactSent(entry[1], sent);
  // A mistaken template puts the key where the run's name was meant to be.
  for (const entry of metadata) entry[1] = redactSent(entry[1], sent);
  for (const field of NAMES_OF_RUN) reserved[field] = redactSent(reserved[field] ?? '', sent);
  const named = clientNames.read(userAgent, request.header);
  return {
    key: reserved.key,
    provider: readReserved(reserved.provider) ?? addressToken?.provider,
    // Without configured aliases it is only a label, and logged.
    providerAlias: hideIn(readReserved(reserved.providerAlias), sent),
    client: readClient(reserved.client, named.name, sent),
    agent: withoutSecrets(named.client?.readAgent(request.header) ?? null, sent),
    agentClient: named.client,
    traceId: readTraceId(reserved.traceId, flags),
    spanPath: cutSpan(readText(reserved.spanPath), MAX_SPAN_PATH_BYTES, flags),
    spanName: cutSpan(decodeName(reserved.spanName), MAX_SPAN_NAME_BYTES, flags),
    runBudget: readRunBudget(reserved.runBudget),
    metadata,
    flags,
    forwarded,
    loggedHeaders: logged,
    isToldByProxy,
    sent,
    secrets,
  };
}

/** A header covered by the client's AWS signature must be forwarded, or the signature fails. */
function isSignedByClient({ clientSignature }: RequestSecrets, lower: string): boolean {
  return clientSignature?.signedHeaders.includes(lower) === true;
}

function hideIn(text: string | null, sent: readonly string[]): string | null {
  return text === null ? null : redactSent(hideSecretForms(text), sent);
}

/** An agent whose ids hold a credential is none. */
export function withoutSecrets(agent: AgentOfCall | null, sent: readonly string[]): AgentOfCall | null {
  if (agent === null) return null;
  const ids = [agent.session, agent.agentTurn ?? '', ...agent.agents];
  return ids.some((id) => hasSecretForm(id) || sent.some((secret) => id.includes(secret))) ? null : agent;
}

function readClient(header: string | undefined, known: string | null, sent: readonly string[]): string | null {
  const text = readText(header);
  const name = cut(text === null ? known : hideSecretForms(text), MAX_CLIENT_BYTES);
  return name === null ? null : redactSent(name, sent);
}

const NAMES_OF_RUN = ['traceId', 'spanPath', 'spanName'] as const;

type Reserved = Record<ReservedField, string | undefined>;

const NONE_RESERVED: Readonly<Reserved> = {
  key: undefined,
  provider: undefined,
  providerAlias: undefined,
  client: undefined,
  traceId: undefined,
  spanPath: undefined,
  spanName: undefined,
  runBudget: undefined,
};

/** Empty headers count as absent; a repeated one is ambiguous and refused. */
function takeReserved(reserved: Reserved, field: ReservedField | null, value: string): void {
  if (field === null || value.trim() === '') return;
  if (reserved[field] !== undefined) throw new GatewayError('header_repeated');
  reserved[field] = value;
}

export function addFlag(flags: CallFlag[], flag: CallFlag): void {
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

function readRunBudget(value: string | undefined): PicoUsd | null {
  if (value === undefined) return null;
  try {
    const amount = parseUsd(value.trim().replace(/^\$/, ''));
    if (amount > 0n && amount <= MAX_BUDGET_USD) return amount;
  } catch {
    // It is refused below like an amount that is out of bounds.
  }
  throw new GatewayError('run_budget_malformed');
}

/** Clients limited to ASCII percent-encode a name: `Pr%C3%BCfung`. */
function decodeName(value: string | undefined): string | null {
  const text = readText(value);
  return text?.includes('%') === true ? withoutNul(text, decodePercent(text)) : text;
}

/** RFC 8187 3.2.1: how clients limited to ASCII encode a metadata value. */
const EXTENDED = /^utf-8'[\w-]*'((?:%[\da-f]{2}|[\w!#$&+.^`|~-])*)$/i;

/** Values in another form, or with invalid escapes, stay as they are. */
function decodeExtended(value: string): string {
  const encoded = EXTENDED.exec(value)?.[1];
  if (encoded === undefined) return value;
  try {
    return withoutNul(value, decodeURIComponent(encoded));
  } catch {
    return value;
  }
}

/** PostgreSQL stores no text with a NUL in it. */
function withoutNul(sent: string, decoded: string): string {
  return decoded.includes('\0') ? sent : decoded;
}

function readText(value: string | undefined): string | null {
  if (value === undefined || value === '') return null;
  return decodeHeaderText(value);
}

/** Cuts at a character boundary to at most `maxBytes` of UTF-8. */
function cut(text: string | null, maxBytes: number): string | null {
  if (text === null || text.length * 3 <= maxBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** A trace id that is too long keeps its beginning plus `~` and its SHA-256, so that runs stay apart. */
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

/** Adds one entry within the limits and returns the bytes held; repeated names (case-insensitive) are joined. */
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
