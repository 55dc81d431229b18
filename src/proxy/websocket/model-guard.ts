/**
 * Reads what a client says on a websocket before it is passed on, where its key names the models that it may use: any
 * member `model`, at whatever depth, must be one of them. What cannot be read does not pass.
 */
import { Receiver } from 'ws';
import { endOfString, skipSpace } from '../../formats/wire/json-scan.ts';
import { isAllowedModel } from '../allowed-model.ts';
import type { KeyEnd } from '../key-end.ts';

/** Of one message. Larger than what providers take. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const MAX_FRAGMENTS = 16 * 1024;
const MODEL = 'model';
/** Names of members and models; longer texts are neither. */
const MAX_NAME_BYTES = 1024;
/** A name may be written with escapes. */
const MAY_NAME_MODEL = /model|\\u/i;
const QUOTE = 34;
const COLON = 58;

export interface ClientRefusal {
  readonly code: KeyEnd;
  /** A last message to the client, before the connection is closed. */
  readonly lastWords: string | null;
}

/** A refusal from the chunk on that makes a message whole which must not reach the provider. The bytes are not changed. */
export type ModelGuard = (chunk: Buffer) => ClientRefusal | null;
/** As that, or later: then the chunk waits. It never rejects. */
export type ClientGuard = (chunk: Buffer) => ClientRefusal | null | Promise<ClientRefusal | null>;

const REFUSED: ClientRefusal = Object.freeze({ code: 'model_not_allowed', lastWords: null });

/** The connection must have no extensions: what is compressed is read too late. */
export function createModelGuard(allowed: readonly string[]): ModelGuard {
  let isRefused = false;
  // It emits within `write`, so that the answer is there when the chunk was read.
  const receiver = new Receiver({
    isServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
    skipUTF8Validation: true,
  });
  receiver.on('message', (data) => {
    if (!namesOnly(data, allowed)) isRefused = true;
  });
  receiver.on('error', () => {
    isRefused = true;
  });
  return (chunk) => {
    // Unmasks in place; what is relayed stays masked. Nothing follows a close frame.
    if (!isRefused && !receiver.writableEnded) receiver.write(Buffer.from(chunk));
    return isRefused ? REFUSED : null;
  };
}

/** Looks at every member, since of several with one name readers differ in which they take. */
function namesOnly(json: Buffer, allowed: readonly string[]): boolean {
  if (!MAY_NAME_MODEL.test(json.toString('latin1'))) return true;
  let isValueOfModel = false;
  for (let start = json.indexOf(QUOTE); start !== -1; ) {
    const end = endOfString(json, start);
    if (end === -1) return false;
    const text = end - start > MAX_NAME_BYTES ? null : readString(json.toString('utf8', start, end));
    if (isValueOfModel && (text === null || !isAllowedModel(allowed, text))) return false;
    const colon = skipSpace(json, end);
    const isName = json[colon] === COLON;
    start = json.indexOf(QUOTE, end);
    isValueOfModel = isName && text?.toLowerCase() === MODEL && skipSpace(json, colon + 1) === start;
  }
  return true;
}

function readString(text: string): string | null {
  try {
    return String(JSON.parse(text));
  } catch {
    return null;
  }
}
