/** Reads model, `stream` and terms from a request's JSON or form, held whole or as head and tail. */

import { parseJson, readName } from '../formats/usage/read-json.ts';
import { type ContentDecoder, createContentDecoder, isIdentity } from '../formats/wire/content-encoding.ts';
import { scanTopLevel, type TopLevelScan } from '../formats/wire/json-top-level.ts';
import { readBoundary, readMultipartFields } from '../formats/wire/multipart-fields.ts';
import type { Endpoint } from '../providers/provider.ts';
import type { BodyCopy } from './body-copy.ts';
import type { CallContext, RequestedModel } from './call-context.ts';
import type { ReceivedBody } from './receive-body.ts';
import { listRunMembers, readRunMembers } from './run-members.ts';

/** Limits of what is decoded of an encoded body, and of what is read of the result. */
const MAX_ENCODED_HEAD_BYTES = 1024 * 1024;
const MAX_DECODED_HEAD_BYTES = 1024 * 1024;
/** A form is searched this far at each end. */
const MAX_FORM_END_BYTES = 512 * 1024;
const MAX_TERM_CHARS = 64;
/** AWS: `serviceTier: { type }`, `performanceConfig: { latency }`. OpenAI: `background_options: { completion_window }`. */
const MAX_TERM_OBJECT_BYTES = 256;
/** How long a call's end waits for the decoder. */
const DECODE_DEADLINE_MS = 2_000;

const WANTED = [
  'stream',
  'service_tier',
  'serviceTier',
  'performanceConfig',
  'speed',
  'inference_geo',
  'background_options',
];
const MODEL_NAMES: readonly string[] = ['model'];
const USUALLY_WANTED: readonly string[] = [...MODEL_NAMES, ...WANTED];
const FIELDS = ['model', 'stream', 'session'];

export const UNREAD_MODEL: RequestedModel = Object.freeze({ model: null, streamed: null });

interface Reading {
  /** The members of which one names the model. */
  readonly modelNames?: readonly string[];
  /** The key's sources of runs, of which those in JSON are read. */
  readonly runsFrom?: readonly string[] | undefined;
  /** The whole body is scanned for all its members, for a later step. */
  readonly keepsScan?: boolean;
}

/** In JSON; a form has the usual name. */
export function modelNamesOf({ model }: Endpoint): readonly string[] {
  return (model.in === 'body' ? model.names : undefined) ?? MODEL_NAMES;
}

/** `bytes`, not encoded: the whole body, or `headBytes` of its head and then its tail. */
export function readModelOfBody(
  contentType: string | null,
  bytes: Buffer,
  headBytes: number,
  reading: Reading = {},
): RequestedModel {
  const boundary = readBoundary(contentType);
  return boundary === null ? readJsonFacts(bytes, headBytes, reading) : readFormFacts(bytes, headBytes, boundary);
}

function readJsonFacts(
  bytes: Buffer,
  headBytes: number,
  { modelNames = MODEL_NAMES, runsFrom = [], keepsScan = false }: Reading,
): RequestedModel {
  const membersOfRuns = listRunMembers(runsFrom);
  const wanted = keepsScan ? null : listWanted(modelNames, membersOfRuns);
  const all = scanTopLevel(bytes, wanted);
  // With a gap in the middle, unbalanced braces may pass nested members off as top-level ones.
  const isSure = headBytes === bytes.length || all.state === 'complete';
  const scan = isSure ? all : scanTopLevel(bytes.subarray(0, headBytes), wanted);
  const runMembers = membersOfRuns.length === 0 ? null : readRunMembers(bytes, scan.members, runsFrom);
  const tier =
    readTerm(scan, 'service_tier') ??
    readTerm(scan, 'serviceTier') ??
    readTermWithin(bytes, scan, 'serviceTier', 'type');
  const speed = readTerm(scan, 'speed') ?? readTermWithin(bytes, scan, 'performanceConfig', 'latency');
  const inferenceGeo = readTerm(scan, 'inference_geo');
  const completionWindow = readTermWithin(bytes, scan, 'background_options', 'completion_window');
  const models = modelNames.map((name) => readModel(scan.members.get(name)?.scalar));
  return {
    model: models.find((model) => model !== null) ?? null,
    streamed: readStream(scan),
    ...(tier === null ? {} : { serviceTier: tier }),
    ...(speed === null ? {} : { speed }),
    ...(inferenceGeo === null ? {} : { inferenceGeo }),
    ...(completionWindow === null ? {} : { completionWindow }),
    ...(runMembers === null ? {} : { runMembers }),
    ...(keepsScan ? { scan } : {}),
  };
}

/** Nearly all calls want the usual ones. */
function listWanted(modelNames: readonly string[], runMembers: readonly string[]): readonly string[] {
  if (modelNames === MODEL_NAMES && runMembers.length === 0) return USUALLY_WANTED;
  return [...modelNames, ...WANTED, ...runMembers];
}

function readTerm(scan: TopLevelScan, name: string): string | null {
  const text = scan.members.get(name)?.scalar;
  return typeof text === 'string' ? text.slice(0, MAX_TERM_CHARS) : null;
}

function readTermWithin(bytes: Buffer, scan: TopLevelScan, object: string, name: string): string | null {
  const member = scan.members.get(object);
  if (member === undefined || member.valueEnd === null || member.scalar !== undefined) return null;
  if (member.valueEnd - member.valueStart > MAX_TERM_OBJECT_BYTES) return null;
  return (
    readName(parseJson(bytes.subarray(member.valueStart, member.valueEnd)), name)?.slice(0, MAX_TERM_CHARS) ?? null
  );
}

function readStream(scan: TopLevelScan): boolean | null {
  const stream = scan.members.get('stream')?.scalar;
  return typeof stream === 'boolean' ? stream : null;
}

function readModel(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** SDKs that put the file first have their fields in the tail. */
function readFormFacts(bytes: Buffer, headBytes: number, boundary: string): RequestedModel {
  const head = bytes.subarray(0, Math.min(headBytes, MAX_FORM_END_BYTES));
  const tail = bytes.subarray(Math.max(head.length, bytes.length - MAX_FORM_END_BYTES));
  const isWhole = head.length + tail.length === bytes.length && headBytes === bytes.length;
  const fields = isWhole
    ? readMultipartFields(bytes, boundary, FIELDS)
    : new Map([...readMultipartFields(head, boundary, FIELDS), ...readMultipartFields(tail, boundary, FIELDS)]);
  const model = readModel(fields.get('model')) ?? readSessionModel(fields.get('session'));
  return { model, streamed: readSwitch(fields.get('stream')) };
}

/** WebRTC calls send the session as JSON beside their offer. */
function readSessionModel(session: string | undefined): string | null {
  if (session === undefined) return null;
  return readModel(scanTopLevel(Buffer.from(session), ['model']).members.get('model')?.scalar);
}

/** SDKs write a form's booleans in their language's way. */
function readSwitch(text: string | undefined): boolean | null {
  if (text === undefined) return null;
  if (/^(?:true|1)$/i.test(text)) return true;
  return /^(?:false|0)$/i.test(text) ? false : null;
}

/** For a body that could not be read before it was forwarded. Never rejects. */
export async function readModelAtEnd(
  { request, route }: CallContext,
  received: ReceivedBody,
  copy: BodyCopy,
): Promise<RequestedModel> {
  const { bytes, headBytes } =
    received.kind === 'held' ? { bytes: received.bytes, headBytes: received.bytes.length } : copy.read();
  const contentType = request.header('content-type') ?? null;
  const encoding = request.header('content-encoding') ?? null;
  const reading = { modelNames: modelNamesOf(route.endpoint) };
  if (isIdentity(encoding)) return readModelOfBody(contentType, bytes, headBytes, reading);
  const decoded = await decodeHead(encoding ?? '', bytes.subarray(0, Math.min(headBytes, MAX_ENCODED_HEAD_BYTES)));
  return readModelOfBody(contentType, decoded, decoded.length, reading);
}

/** Empty when the bytes cannot be decoded. Never rejects. */
function decodeHead(encoding: string, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let decodedBytes = 0;
    let decoder: ContentDecoder | null = null;
    const deadline = setTimeout(settle, DECODE_DEADLINE_MS);

    function settle(): void {
      clearTimeout(deadline);
      decoder?.destroy();
      resolve(Buffer.concat(parts).subarray(0, MAX_DECODED_HEAD_BYTES));
    }
    function onData(chunk: Buffer): void {
      parts.push(chunk);
      decodedBytes += chunk.length;
      if (decodedBytes >= MAX_DECODED_HEAD_BYTES) settle();
    }
    decoder = createContentDecoder(encoding, onData, settle);
    decoder?.push(bytes);
    decoder?.end();
    if (decoder === null) settle();
  });
}
