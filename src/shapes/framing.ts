/**
 * Takes the decoded bytes of an answer apart, by its content type: events, frames, the elements of an array, or one
 * whole JSON body. It does not know what usage is; `usage-reader.ts` does.
 */
import { type AwsFrame, createAwsEventStreamDecoder } from '../wire/aws-event-stream.ts';
import { isBase64Run } from '../wire/base64-run.ts';
import { createGatheredBytes, type GatheredBytes } from '../wire/gathered-bytes.ts';
import { createJsonArraySplitter } from '../wire/json-array.ts';
import { createJsonLineSplitter } from '../wire/json-lines.ts';
import { isJsonSpace } from '../wire/json-scan.ts';
import { createSseSplitter } from '../wire/sse.ts';

/** A whole JSON body larger than this is not read. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;
/** An escape that the piece before began (`\u00e9`) is finished by so many bytes. */
const ESCAPE_REST_BYTES = 8;

export interface FramingSink {
  /** An event of a stream: SSE, or an element of a JSON array or a line of JSON lines (which have no type). */
  readonly onEvent: (eventType: string | null, data: Buffer) => void;
  readonly onFrame: (frame: AwsFrame) => void;
  /** The body, at the end. */
  readonly onBody: (body: Buffer) => void;
  /** The closing bracket of an array was seen; or JSON lines, which have no mark of their end, were finished. */
  readonly onClosed: () => void;
  /** `undecodable` at the end: it came in the middle of something, which is no wonder where the answer was cut. */
  readonly onProblem: (problem: 'too-large' | 'undecodable') => void;
}

/** How an answer is put together: one value, an array of them, a value a line, or events (also in frames). */
export type FramingForm = 'json' | 'array' | 'lines' | 'events';

export interface Framing {
  /** Of JSON that may be either: `json` until its first byte was seen. */
  readonly form: FramingForm;
  readonly push: (chunk: Buffer) => void;
  readonly finish: () => void;
  readonly bufferedBytes: number;
}

/**
 * Not an object literal with a getter: of each of those the engine makes a hidden class of its own, which keeps all that
 * the getter can see alive until the next full garbage collection.
 */
class FramingOf implements Framing {
  readonly push: (chunk: Buffer) => void;
  readonly finish: () => void;
  readonly #readForm: () => FramingForm;
  readonly #countBytes: () => number;

  constructor(
    form: FramingForm | (() => FramingForm),
    push: (chunk: Buffer) => void,
    finish: () => void,
    countBytes: () => number,
  ) {
    this.#readForm = typeof form === 'string' ? () => form : form;
    this.push = push;
    this.finish = finish;
    this.#countBytes = countBytes;
  }

  get form(): FramingForm {
    return this.#readForm();
  }

  get bufferedBytes(): number {
    return this.#countBytes();
  }
}

/** What the API is known to send, where the content type alone does not say. */
export interface FramingHints {
  /** JSON may be the array of a stream. */
  readonly canBeArray: boolean;
  /** A body of no particular type is JSON lines: contents of files, results of batches. */
  readonly areLines: boolean;
}

/** One JSON value a line. Anthropic sends the first of them for the results of a batch; there is no registered name. */
const LINES_TYPES = [
  'application/x-jsonl',
  'application/jsonl',
  'application/x-ndjson',
  'application/ndjson',
  'application/x-jsonlines',
  'application/jsonlines',
  'application/json-lines',
  'application/jsonlines+json',
  'text/jsonl',
  'text/x-jsonl',
];
/** Says nothing about what is in the body. */
const UNTOLD_TYPES = ['', 'application/octet-stream', 'application/binary', 'binary/octet-stream', 'text/plain'];

/** Null when a body of this type is not read. */
export function createFraming(contentType: string | null, hints: FramingHints, sink: FramingSink): Framing | null {
  const mediaType = readMediaType(contentType ?? '');
  if (mediaType === 'text/event-stream') return withoutBase64(createEvents(sink));
  if (mediaType === 'application/vnd.amazon.eventstream') return createFrames(sink);
  if (LINES_TYPES.includes(mediaType)) return createLines(sink);
  if (hints.areLines && UNTOLD_TYPES.includes(mediaType)) return createLines(sink);
  if (!isJsonType(contentType)) return null;
  return withoutBase64(hints.canBeArray ? createArrayOrWhole(sink) : createWhole(sink));
}

export function isJsonType(contentType: string | null): boolean {
  const mediaType = readMediaType(contentType ?? '');
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

function readMediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';');
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

function createEvents(sink: FramingSink): Framing {
  const splitter = createSseSplitter(sink.onEvent, () => sink.onProblem('too-large'));
  return new FramingOf('events', splitter.push, splitter.finish, () => splitter.bufferedBytes);
}

/** Leaves out the middle of pictures: the text stays JSON, and its usage is read however large they are. */
function withoutBase64(framing: Framing): Framing {
  return new FramingOf(
    () => framing.form,
    (chunk) => framing.push(isBase64Run(chunk) ? chunk.subarray(0, ESCAPE_REST_BYTES) : chunk),
    framing.finish,
    () => framing.bufferedBytes,
  );
}

function createLines(sink: FramingSink): Framing {
  const splitter = createJsonLineSplitter(
    (line) => sink.onEvent(null, line),
    () => sink.onProblem('too-large'),
  );
  return new FramingOf(
    'lines',
    splitter.push,
    () => {
      splitter.finish();
      sink.onClosed();
    },
    () => splitter.bufferedBytes,
  );
}

function createFrames(sink: FramingSink): Framing {
  const decoder = createAwsEventStreamDecoder(sink.onFrame, sink.onProblem);
  return new FramingOf(
    'events',
    decoder.push,
    () => {
      if (decoder.bufferedBytes > 0) sink.onProblem('undecodable');
    },
    () => decoder.bufferedBytes,
  );
}

function createWhole(sink: FramingSink): Framing {
  // Mutable: the first piece, of most answers the only one and then not copied; and what came behind it.
  let first: Buffer | null = null;
  let rest: GatheredBytes | null = null;
  let isGivenUp = false;
  const heldBytes = () => (first?.length ?? 0) + (rest?.length ?? 0);
  return new FramingOf(
    'json',
    (chunk) => {
      if (isGivenUp) return;
      if (first === null) first = chunk;
      else {
        rest ??= createGatheredBytes();
        rest.push(chunk);
      }
      if (heldBytes() <= MAX_JSON_BYTES) return;
      isGivenUp = true;
      first = null;
      rest = null;
      sink.onProblem('too-large');
    },
    () => {
      const more = rest?.take(null) ?? null;
      const body = first === null || more === null ? first : Buffer.concat([first, more]);
      first = null;
      rest = null;
      if (body !== null) sink.onBody(body);
    },
    () => heldBytes(),
  );
}

/** The first byte that is not white space tells an array from one object. */
function createArrayOrWhole(sink: FramingSink): Framing {
  let chosen: Framing | null = null;
  return new FramingOf(
    () => chosen?.form ?? 'json',
    (chunk) => {
      chosen ??= chooseByFirstByte(chunk, sink);
      chosen?.push(chunk);
    },
    () => chosen?.finish(),
    () => chosen?.bufferedBytes ?? 0,
  );
}

function chooseByFirstByte(chunk: Buffer, sink: FramingSink): Framing | null {
  const first = chunk.find((byte) => !isJsonSpace(byte));
  if (first === undefined) return null;
  if (first !== 91) return createWhole(sink);
  let wasClosed = false;
  const splitter = createJsonArraySplitter(
    (element) => sink.onEvent(null, element),
    () => sink.onProblem('too-large'),
  );
  return new FramingOf(
    'array',
    (bytes) => {
      splitter.push(bytes);
      if (splitter.closed && !wasClosed) {
        wasClosed = true;
        sink.onClosed();
      }
    },
    () => {
      if (!splitter.closed) sink.onProblem('undecodable');
    },
    () => splitter.bufferedBytes,
  );
}
