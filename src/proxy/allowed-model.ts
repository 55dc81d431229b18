/**
 * Refuses models that the call's key does not allow. What may cost money and names its model where it cannot be read
 * before forwarding is refused too: else a key's models would be a suggestion.
 */
import { isIdentity } from '../formats/wire/content-encoding.ts';
import { scanTopLevel } from '../formats/wire/json-top-level.ts';
import { readBoundary } from '../formats/wire/multipart-fields.ts';
import { matchesAny } from '../keys/allowance.ts';
import type { SessionName } from '../providers/format-names.ts';
import { issuesCredentials } from '../providers/issues-credentials.ts';
import { GatewayError } from '../vocabulary/errors.ts';
import type { CallContext } from './call-context.ts';
import { decodeBody } from './decode-body.ts';
import { notAllowed } from './not-allowed.ts';
import { modelNamesOf, readModelOfBody } from './read-requested-model.ts';
import type { ReceivedBody } from './receive-body.ts';

/** Google's clients write it in front of the same ids. */
const COLLECTION = /^models\//;
const EMPTY = Buffer.alloc(0);
const MODEL = 'model';
/** What stands around that word where a part of a form is named so. */
const BEFORE_NAME = /\bname\*?\s*=\s*"?$/i;
const BEHIND_NAME = /^["';\s]/;
const MAX_BEFORE_BYTES = 16;

/** What the request's head tells: a model in the path, or one that no body of this endpoint names. */
export function requireAllowedName(call: CallContext, allowed: readonly string[]): void {
  const { key, route, request } = call;
  const { endpoint } = route;
  // With such an answer a client calls the provider past the gateway, with any model.
  if (issuesCredentials(request.path) && request.method !== 'GET')
    throw notAllowed('model_not_allowed', key, allowed, 'this key may not ask for credentials of the provider’s; ');
  if (endpoint.model.in === 'path') requireAllowed(call, allowed, endpoint.model.name);
  else if (endpoint.billed && endpoint.isBatch)
    throw notAllowed('model_not_allowed', key, allowed, 'the models of a batch cannot be checked; ');
  else if (endpoint.billed && endpoint.model.in === 'nowhere')
    throw notAllowed('model_not_allowed', key, allowed, 'nothing in this call is known to name its model; ');
}

/** What the body tells, where the endpoint has its model there. Null when that was seen at once. */
export function requireAllowedModel(call: CallContext, received: ReceivedBody): Promise<void> | null {
  const { key, request, route } = call;
  const allowed = key.allow?.models;
  if (allowed === undefined || route.endpoint.model.in !== 'body') return null;
  if (received.kind === 'streamed') {
    if (received.why === 'no-room') throw new GatewayError('bodies_busy');
    throw notAllowed('model_not_allowed', key, allowed, 'the body is too large for its model to be checked; ');
  }
  const bytes = received.kind === 'held' ? received.bytes : EMPTY;
  const encoding = request.header('content-encoding') ?? null;
  if (!isIdentity(encoding)) return requireAllowedEncoded(call, allowed, encoding ?? '', bytes);
  requireAllowedIn(call, allowed, bytes);
  return null;
}

async function requireAllowedEncoded(
  call: CallContext,
  allowed: readonly string[],
  encoding: string,
  bytes: Buffer,
): Promise<void> {
  const decoded = await decodeBody(encoding, bytes);
  if (decoded === null)
    throw notAllowed('model_not_allowed', call.key, allowed, 'the encoding of the body cannot be undone here; ');
  requireAllowedIn(call, allowed, decoded);
}

function requireAllowedIn(call: CallContext, allowed: readonly string[], bytes: Buffer): void {
  const { key, request, route } = call;
  const contentType = request.header('content-type') ?? null;
  const modelNames = modelNamesOf(route.endpoint);
  if (countModels(contentType, bytes, modelNames) > 1)
    throw notAllowed('model_not_allowed', key, allowed, 'the body names a model more than once; ');
  const { model } = readModelOfBody(contentType, bytes, bytes.length, { modelNames });
  if (model !== null) requireAllowed(call, allowed, model);
  else if (route.endpoint.billed) throw notAllowed('model_not_allowed', key, allowed, 'the body names no model; ');
}

/** What the handshake of a websocket tells. Its messages are looked at by `websocket/model-guard.ts`. */
export function requireAllowedSession(call: CallContext, session: SessionName): void {
  const { key, route } = call;
  const allowed = key.allow?.models;
  if (allowed === undefined) return;
  if (session === 'opaque-session')
    throw notAllowed('model_not_allowed', key, allowed, 'the models of this websocket cannot be checked; ');
  const models = new URLSearchParams(route.mapped.query).getAll(MODEL);
  for (const model of models) requireAllowed(call, allowed, model);
  if (session === 'realtime' && models.length === 0)
    throw notAllowed('model_not_allowed', key, allowed, 'the address names no model; ');
}

function requireAllowed({ key }: CallContext, allowed: readonly string[], model: string): void {
  if (!isAllowedModel(allowed, model)) throw notAllowed('model_not_allowed', key, allowed);
}

export function isAllowedModel(allowed: readonly string[], model: string): boolean {
  return matchesAny(allowed, model) || matchesAny(allowed, model.replace(COLLECTION, ''));
}

/** Servers differ in which of two they take, and some read names without case. */
function countModels(contentType: string | null, bytes: Buffer, modelNames: readonly string[]): number {
  if (readBoundary(contentType) !== null) return countFields(bytes);
  const { state, members, duplicates } = scanTopLevel(bytes, null);
  // Who reads on behind what is broken may find another one.
  if (state !== 'complete' && modelNames.some((name) => members.has(name))) return Number.POSITIVE_INFINITY;
  const lower = modelNames.map((name) => name.toLowerCase());
  return [...members.keys(), ...duplicates].filter((name) => lower.includes(name.toLowerCase())).length;
}

function countFields(form: Buffer): number {
  let count = 0;
  for (let at = form.indexOf(MODEL); at !== -1; at = form.indexOf(MODEL, at + 1)) {
    const before = form.toString('latin1', Math.max(0, at - MAX_BEFORE_BYTES), at);
    const behind = form.toString('latin1', at + MODEL.length, at + MODEL.length + 1);
    if (BEFORE_NAME.test(before) && BEHIND_NAME.test(behind)) count += 1;
  }
  return count;
}
