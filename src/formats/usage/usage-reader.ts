/** Reads usage from an answer's bytes as they pass. It never throws or waits; failures become flags. */
import { hasUnreadPart, type JsonValue, type ReportedUsage } from '../../vocabulary/token-usage.ts';
import type { AwsFrame } from '../wire/aws-event-stream.ts';
import { type ContentDecoder, createContentDecoder, type DecodeEnd, isIdentity } from '../wire/content-encoding.ts';
import { isJsonSpace } from '../wire/json-scan.ts';
import { scanTopLevel } from '../wire/json-top-level.ts';
import { CONTENT_TESTS } from './content-tests.ts';
import { createFraming, type FramingForm, isFormTold, isJsonType } from './framing.ts';
import { judgeEnding, MEDIA_FORMATS } from './judge-ending.ts';
import { withError, withErrorBody } from './read-error.ts';
import { isObject, parseJson } from './read-json.ts';
import {
  NOTHING_REPORTED,
  withFlag,
  withIncomplete,
  withLaterResult,
  withoutProgress,
  withTerminal,
} from './reported-usage.ts';
import type { ReadHeader, UsageFormat } from './usage-format.ts';
import { readWholeJson } from './whole-json.ts';

/** How long the end of a call waits for a decoder that brings nothing, and for one that does: a busy machine is slow. */
export const FINISH_STALL_MS = 2_000;
const FINISH_LIMIT_MS = 10_000;
/** The first events are always parsed for the model. */
const MODEL_LOOKS = 3;
const MODEL_LOOK_MAX_BYTES = 64 * 1024;
const MAX_DONE_TEXT_BYTES = 32;
/** These statuses announce an empty or partial body. */
const WITHOUT_ENDING: readonly number[] = [204, 205, 206];

export interface UsageReaderOptions {
  readonly format: UsageFormat;
  /** From 400 on, the body is also read as an error. */
  readonly status: number;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly header?: ReadHeader;
  /** The fetched result's id, where the answer does not say it. */
  readonly resultId?: string | undefined;
  /** False: answers to this method have no body, whatever their headers say. */
  readonly hasBody?: boolean;
}

export interface UsageReader {
  /**
   * Takes the answer's next bytes. True when they carried usage, an error or the ending, so that a checkpoint is due
   * before they are forwarded; always false while a decoder runs beside the call.
   */
  readonly push: (chunk: Buffer) => boolean;
  /** Calls `done` exactly once: before it returns, or within the deadline while decoding. Later calls do nothing. */
  readonly finish: (complete: boolean, done: (reported: ReportedUsage) => void) => void;
  /** Calls `done` when everything pushed is read: at once unless the answer is encoded. */
  readonly settle: (done: () => void) => void;
  readonly reported: ReportedUsage;
  readonly sawContent: boolean;
  readonly bufferedBytes: number;
}

export function createUsageReader(options: UsageReaderOptions): UsageReader {
  const { format, status } = options;
  // Mutable because the answer comes piece by piece.
  let reported = readHead(options);
  let sawContent = false;
  let modelLooks = 0;
  let stopped = false;
  let finished = false;
  let isCut = false;
  let isClosing = false;
  let isEmpty = true;
  /** The last unit was incomplete. */
  let isOpen = false;
  /** Unread bytes may have held the ending. */
  let isPassedOver = false;
  /** An event had an object in it, or a body was JSON, so that it is no text that only begins as one. */
  let isUnderstood = false;
  let decoder: ContentDecoder | null = null;
  let decodeEnd: DecodeEnd | null = null;
  let onDecodeEnd: (() => void) | null = null;
  let onDecoded: (() => void) | null = null;

  // Unmetered answers are read only for errors and for broken JSON.
  const isMetered = format.name !== 'opaque' || status >= 400;
  const isRead = isMetered || isJsonType(options.contentType);
  const hints = { canBeArray: format.name === 'generate-content', areLines: format.areLines === true && status < 400 };
  const framing = isRead
    ? createFraming(options.contentType, hints, {
        onEvent: readEvent,
        onFrame: readFrame,
        onBody: readBody,
        onClosed: () => {
          if (!isCut) reported = withTerminal(reported);
        },
        onProblem: (problem) => {
          if (problem === 'too-large') {
            isPassedOver = true;
            if (isMetered) reported = withFlag(reported, 'tap_limit');
          } else remarkUndecodable();
        },
      })
    : null;
  const mayBeText = status < 400 && MEDIA_FORMATS.includes(format.name) && !isFormTold(options.contentType);
  const hasEnding = status >= 200 && status < 300 && !WITHOUT_ENDING.includes(status) && options.hasBody !== false;
  const isEncoded = framing !== null && !isIdentity(options.contentEncoding);

  /** A cut answer ends cut; any other decoding failure is flagged. */
  function remarkUndecodable(): void {
    if (isClosing) isOpen = true;
    else isPassedOver = true;
    if (!isCut) reported = withFlag(reported, 'undecodable');
  }

  function readEvent(eventType: string | null, data: Buffer): void {
    isEmpty = false;
    if (!sawContent && CONTENT_TESTS[format.name](eventType, data)) sawContent = true;
    if (format.mayMatter(data)) {
      const value = parseJson(data);
      if (value !== undefined) readValue(eventType, value);
      else remarkUndecodable();
    } else if (isDoneText(data)) {
      reported = withTerminal(reported);
    } else if (reported.model === null && modelLooks < MODEL_LOOKS && data.length <= MODEL_LOOK_MAX_BYTES) {
      modelLooks += 1;
      const value = parseJson(data);
      if (value !== undefined) readValue(eventType, value);
    }
  }

  function readValue(eventType: string | null, value: JsonValue): void {
    if (isObject(value)) isUnderstood = true;
    reported = format.readEvent(eventType, value, reported, sawContent);
  }

  function isDoneText(data: Buffer): boolean {
    return format.doneText !== null && data.length <= MAX_DONE_TEXT_BYTES && data.toString().trim() === format.doneText;
  }

  function readFrame(frame: AwsFrame): void {
    if (frame.messageType === 'exception' || frame.messageType === 'error') {
      const body = parseJson(frame.payload);
      const message = isObject(body) ? (body['message'] ?? body['Message']) : undefined;
      reported = withError(reported, frame.type, message ?? frame.errorMessage ?? undefined);
    } else if (frame.type === 'chunk') {
      const inner = unwrapChunk(frame.payload);
      if (inner !== null) readEvent(null, inner);
    } else {
      readEvent(frame.type, frame.payload);
    }
  }

  function readBody(bytes: Buffer): void {
    const { body, complete } = readWholeJson(bytes);
    isEmpty = bytes.every(isJsonSpace);
    isUnderstood = complete;
    if (!complete && !isCut && mayBeText) return;
    if (body !== undefined && isMetered) {
      const before = reported;
      reported = format.readJson(body, reported);
      if (status >= 400 && reported.error === null) reported = withErrorBody(reported, body);
      if (!complete) reported = { ...reported, terminal: before.terminal };
    }
    if (!complete) remarkUndecodable();
  }

  /** A failure here stops the reading, never the call. */
  function guarded(work: () => void): void {
    try {
      work();
    } catch {
      stopped = true;
      reported = withFlag(reported, 'undecodable');
    }
  }

  function openDecoder(): void {
    decoder = createContentDecoder(
      options.contentEncoding ?? '',
      (chunk) => {
        if (stopped) return;
        guarded(() => framing?.push(chunk));
        onDecoded?.();
      },
      (end) => {
        decodeEnd = end;
        if (end !== 'decoded') {
          stopped = true;
          reported = withFlag(reported, end === 'limit' ? 'tap_limit' : 'undecodable');
        }
        onDecodeEnd?.();
      },
    );
    if (decoder !== null) return;
    stopped = true;
    reported = withFlag(reported, 'undecodable');
  }

  function push(chunk: Buffer): boolean {
    if (framing === null || stopped || finished || chunk.length === 0) return false;
    if (isEncoded) {
      if (decoder === null) openDecoder();
      decoder?.push(chunk);
      return false;
    }
    const before = reported;
    try {
      framing.push(chunk);
    } catch {
      stopped = true;
      reported = withFlag(reported, 'undecodable');
    }
    return reported !== before && isCheckpointDue(before, reported);
  }

  function readForm(): FramingForm | null {
    return mayBeText && !isUnderstood ? null : (framing?.form ?? null);
  }

  function finish(complete: boolean, done: (reported: ReportedUsage) => void): void {
    if (finished) return;
    finished = true;

    function close(): void {
      isCut = !complete || stopped;
      isClosing = true;
      guarded(() => framing?.finish());
      if (hasEnding && !isCut && !stopped && !isPassedOver)
        reported = judgeEnding(format, { form: readForm(), isOpen, isEmpty }, reported);
      // Its client could not read it either.
      if (hasEnding && complete && decodeEnd === 'undecodable' && !reported.terminal && reported.error === null)
        reported = { ...reported, shortfall: 'not_decodable' };
      // Unread parts may have held usage; in JSON lines each line is an answer.
      if (reported.flags.includes('tap_limit') || (format.areLines === true && hasUnreadPart(reported)))
        reported = withIncomplete(reported);
      if (reported.parts !== undefined) reported = withoutProgress(reported);
      done(reported);
    }

    if (decoder === null || decodeEnd !== null) {
      close();
      return;
    }
    const active = decoder;
    const limitMs = performance.now() + FINISH_LIMIT_MS;
    const deadline = setTimeout(() => {
      onDecodeEnd = null;
      active.destroy();
      stopped = true;
      reported = withFlag(reported, 'tap_limit');
      close();
    }, FINISH_STALL_MS);
    onDecoded = () => {
      if (performance.now() < limitMs) deadline.refresh();
    };
    onDecodeEnd = () => {
      clearTimeout(deadline);
      close();
    };
    active.end();
  }

  function settle(done: () => void): void {
    if (decoder === null) done();
    else decoder.settle(done);
  }

  return new ReaderOf(
    push,
    finish,
    settle,
    () => reported,
    () => sawContent,
    () => (framing?.bufferedBytes ?? 0) + (decoder?.pendingBytes ?? 0),
  );
}

/** A class, not an object with getters, for the reason given at `FramingOf`. */
class ReaderOf implements UsageReader {
  readonly push: UsageReader['push'];
  readonly finish: UsageReader['finish'];
  readonly settle: UsageReader['settle'];
  readonly #read: () => ReportedUsage;
  readonly #readSawContent: () => boolean;
  readonly #countBytes: () => number;

  constructor(
    push: UsageReader['push'],
    finish: UsageReader['finish'],
    settle: UsageReader['settle'],
    read: () => ReportedUsage,
    readSawContent: () => boolean,
    countBytes: () => number,
  ) {
    this.push = push;
    this.finish = finish;
    this.settle = settle;
    this.#read = read;
    this.#readSawContent = readSawContent;
    this.#countBytes = countBytes;
  }

  get reported(): ReportedUsage {
    return this.#read();
  }

  get sawContent(): boolean {
    return this.#readSawContent();
  }

  get bufferedBytes(): number {
    return this.#countBytes();
  }
}

function readHead({ format, status, header, resultId }: UsageReaderOptions): ReportedUsage {
  const reported = withLaterResult(NOTHING_REPORTED, resultId ?? null, false);
  if (format.readHead === undefined || header === undefined || status >= 300) return reported;
  return format.readHead(header, reported);
}

function isCheckpointDue(before: ReportedUsage, after: ReportedUsage): boolean {
  return after.usage !== before.usage || after.terminal !== before.terminal || after.error !== before.error;
}

/** Bedrock's invoke stream wraps the model's own event: `{"bytes":"<base64>"}`. */
function unwrapChunk(payload: Buffer): Buffer | null {
  const member = scanTopLevel(payload, ['bytes']).members.get('bytes');
  if (member === undefined || member.valueEnd === null || payload[member.valueStart] !== 34) return null;
  return Buffer.from(payload.toString('latin1', member.valueStart + 1, member.valueEnd - 1), 'base64');
}
