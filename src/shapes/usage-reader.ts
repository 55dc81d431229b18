/**
 * Reads usage from the bytes of an answer while they pass: what the proxy's tap feeds. It copies what it must, parses
 * the few events that matter, and never throws or waits; its failures are flags on the reading.
 */
import { hasUnreadPart, type UsageReading } from '../token-usage.ts';
import type { AwsFrame } from '../wire/aws-event-stream.ts';
import { type ContentDecoder, createContentDecoder, type DecodeEnd, isIdentity } from '../wire/content-encoding.ts';
import { isJsonSpace } from '../wire/json-scan.ts';
import { scanTopLevel } from '../wire/json-top-level.ts';
import { CONTENT_TESTS } from './content-tests.ts';
import { withError, withErrorBody } from './error-reading.ts';
import { createFraming, isJsonType } from './framing.ts';
import { isObject, parseJson } from './json-reading.ts';
import { judgeEnding } from './judge-ending.ts';
import { EMPTY_READING, withFlag, withIncomplete, withLaterResult, withoutProgress, withTerminal } from './reading.ts';
import type { ReadHeader, Shape } from './shape.ts';
import { readWholeJson } from './whole-json.ts';

/** How long the end of a call waits for the decoder of an encoded answer. */
export const FINISH_DEADLINE_MS = 2000;
/** The first events are parsed for the model even when nothing else in them matters. */
const MODEL_LOOKS = 3;
const MODEL_LOOK_MAX_BYTES = 64 * 1024;
const MAX_DONE_TEXT_BYTES = 32;
/** Nothing, or a part of something, is what these statuses announce. */
const WITHOUT_ENDING: readonly number[] = [204, 205, 206];

export interface UsageReaderOptions {
  readonly shape: Shape;
  /** Of the answer; from 400 on its body is read as an error too. */
  readonly status: number;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** The answer's headers, for the shapes that read them. */
  readonly header?: ReadHeader;
  /** The provider's id of the result that is fetched, where the answer does not say it. */
  readonly resultId?: string | undefined;
  /** False: answers to this method have no body, whatever their headers say. */
  readonly hasBody?: boolean;
}

export interface UsageReader {
  /**
   * Takes the next bytes of the answer, as they came. True when they carried usage, an error or the ending, so that a
   * checkpoint is due before they are forwarded; always false for an encoded answer, which is decoded beside the call.
   */
  readonly push: (chunk: Buffer) => boolean;
  /**
   * The answer ended (`complete`) or was cut. Calls `done` exactly once: before it returns when nothing is being
   * decoded, else within the deadline. Later calls do nothing.
   */
  readonly finish: (complete: boolean, done: (reading: UsageReading) => void) => void;
  /** Calls `done` when what was pushed is read: at once, but for an encoded answer. */
  readonly settle: (done: () => void) => void;
  readonly reading: UsageReading;
  /** An event that carries content was seen. */
  readonly sawContent: boolean;
  /** Bytes held at the moment. */
  readonly bufferedBytes: number;
}

export function createUsageReader(options: UsageReaderOptions): UsageReader {
  const { shape, status } = options;
  // Mutable because the answer comes piece by piece.
  let reading = readHead(options);
  let sawContent = false;
  let modelLooks = 0;
  let stopped = false;
  let finished = false;
  let isCut = false;
  let isClosing = false;
  let isEmpty = true;
  /** What was being read when the answer ended was not whole. */
  let isOpen = false;
  /** Something before the end was not read, and the ending may have been in it. */
  let isPassedOver = false;
  let decoder: ContentDecoder | null = null;
  let decodeEnd: DecodeEnd | null = null;
  let onDecodeEnd: (() => void) | null = null;

  // Of answers that are not metered only errors are read, and whether what was announced as JSON is JSON.
  const isMetered = shape.name !== 'opaque' || status >= 400;
  const isRead = isMetered || isJsonType(options.contentType);
  const hints = { canBeArray: shape.name === 'generate-content', areLines: shape.areLines === true && status < 400 };
  const framing = isRead
    ? createFraming(options.contentType, hints, {
        onEvent: readEvent,
        onFrame: readFrame,
        onBody: readBody,
        onClosed: () => {
          if (!isCut) reading = withTerminal(reading);
        },
        onProblem: (problem) => {
          if (problem === 'too-large') {
            isPassedOver = true;
            if (isMetered) reading = withFlag(reading, 'tap_limit');
          } else remarkUndecodable();
        },
      })
    : null;
  const hasEnding = status >= 200 && status < 300 && !WITHOUT_ENDING.includes(status) && options.hasBody !== false;
  const isEncoded = framing !== null && !isIdentity(options.contentEncoding);

  /** The end of a cut answer is cut itself; anything else that cannot be decoded is worth a remark. */
  function remarkUndecodable(): void {
    if (isClosing) isOpen = true;
    else isPassedOver = true;
    if (!isCut) reading = withFlag(reading, 'undecodable');
  }

  function readEvent(eventType: string | null, data: Buffer): void {
    isEmpty = false;
    if (!sawContent && CONTENT_TESTS[shape.name](eventType, data)) sawContent = true;
    if (shape.mayMatter(data)) {
      const value = parseJson(data);
      if (value !== undefined) reading = shape.readEvent(eventType, value, reading, sawContent);
      else remarkUndecodable();
    } else if (isDoneText(data)) {
      reading = withTerminal(reading);
    } else if (reading.model === null && modelLooks < MODEL_LOOKS && data.length <= MODEL_LOOK_MAX_BYTES) {
      modelLooks += 1;
      const value = parseJson(data);
      if (value !== undefined) reading = shape.readEvent(eventType, value, reading, sawContent);
    }
  }

  function isDoneText(data: Buffer): boolean {
    return shape.doneText !== null && data.length <= MAX_DONE_TEXT_BYTES && data.toString().trim() === shape.doneText;
  }

  function readFrame(frame: AwsFrame): void {
    if (frame.messageType === 'exception' || frame.messageType === 'error') {
      const body = parseJson(frame.payload);
      const message = isObject(body) ? (body['message'] ?? body['Message']) : undefined;
      reading = withError(reading, frame.type, message ?? frame.errorMessage ?? undefined);
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
    if (body !== undefined && isMetered) {
      const before = reading;
      reading = shape.readJson(body, reading);
      if (status >= 400 && reading.error === null) reading = withErrorBody(reading, body);
      if (!complete) reading = { ...reading, terminal: before.terminal };
    }
    if (!complete) remarkUndecodable();
  }

  /** Reading is never worth a call: whatever goes wrong here stops the reading and is flagged. */
  function guarded(work: () => void): void {
    try {
      work();
    } catch {
      stopped = true;
      reading = withFlag(reading, 'undecodable');
    }
  }

  function openDecoder(): void {
    decoder = createContentDecoder(
      options.contentEncoding ?? '',
      (chunk) => {
        if (!stopped) guarded(() => framing?.push(chunk));
      },
      (end) => {
        decodeEnd = end;
        if (end !== 'decoded') {
          stopped = true;
          reading = withFlag(reading, end === 'limit' ? 'tap_limit' : 'undecodable');
        }
        onDecodeEnd?.();
      },
    );
    if (decoder !== null) return;
    stopped = true;
    reading = withFlag(reading, 'undecodable');
  }

  function push(chunk: Buffer): boolean {
    if (framing === null || stopped || finished || chunk.length === 0) return false;
    if (isEncoded) {
      if (decoder === null) openDecoder();
      decoder?.push(chunk);
      return false;
    }
    const before = reading;
    try {
      framing.push(chunk);
    } catch {
      stopped = true;
      reading = withFlag(reading, 'undecodable');
    }
    return reading !== before && isCheckpointDue(before, reading);
  }

  function finish(complete: boolean, done: (reading: UsageReading) => void): void {
    if (finished) return;
    finished = true;

    function close(): void {
      isCut = !complete || stopped;
      isClosing = true;
      guarded(() => framing?.finish());
      if (hasEnding && !isCut && !stopped && !isPassedOver)
        reading = judgeEnding(shape, { form: framing?.form ?? null, isOpen, isEmpty }, reading);
      // What was not looked into may have had usage in it; and each line is an answer of its own.
      if (reading.flags.includes('tap_limit') || (shape.areLines === true && hasUnreadPart(reading)))
        reading = withIncomplete(reading);
      if (reading.parts !== undefined) reading = withoutProgress(reading);
      done(reading);
    }

    if (decoder === null || decodeEnd !== null) {
      close();
      return;
    }
    const active = decoder;
    const deadline = setTimeout(() => {
      onDecodeEnd = null;
      active.destroy();
      stopped = true;
      reading = withFlag(reading, 'tap_limit');
      close();
    }, FINISH_DEADLINE_MS);
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
    () => reading,
    () => sawContent,
    () => (framing?.bufferedBytes ?? 0) + (decoder?.pendingBytes ?? 0),
  );
}

/** Its getters stand on a class, and not on an object made for each call, for the reason given at `FramingOf`. */
class ReaderOf implements UsageReader {
  readonly push: UsageReader['push'];
  readonly finish: UsageReader['finish'];
  readonly settle: UsageReader['settle'];
  readonly #read: () => UsageReading;
  readonly #readSawContent: () => boolean;
  readonly #countBytes: () => number;

  constructor(
    push: UsageReader['push'],
    finish: UsageReader['finish'],
    settle: UsageReader['settle'],
    read: () => UsageReading,
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

  get reading(): UsageReading {
    return this.#read();
  }

  get sawContent(): boolean {
    return this.#readSawContent();
  }

  get bufferedBytes(): number {
    return this.#countBytes();
  }
}

function readHead({ shape, status, header, resultId }: UsageReaderOptions): UsageReading {
  const reading = withLaterResult(EMPTY_READING, resultId ?? null, false);
  if (shape.readHead === undefined || header === undefined || status >= 300) return reading;
  return shape.readHead(header, reading);
}

function isCheckpointDue(before: UsageReading, after: UsageReading): boolean {
  return after.usage !== before.usage || after.terminal !== before.terminal || after.error !== before.error;
}

/** Bedrock's invoke stream wraps the model's own event: `{"bytes":"<base64>"}`. */
function unwrapChunk(payload: Buffer): Buffer | null {
  const member = scanTopLevel(payload, ['bytes']).members.get('bytes');
  if (member === undefined || member.valueEnd === null || payload[member.valueStart] !== 34) return null;
  return Buffer.from(payload.toString('latin1', member.valueStart + 1, member.valueEnd - 1), 'base64');
}
