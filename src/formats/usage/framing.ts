/** Splits an answer's decoded bytes into events, frames, array elements or one JSON body, by content type. */
import { type AwsFrame, createAwsEventStreamDecoder } from '../wire/aws-event-stream.ts';
import { createJsonArraySplitter } from '../wire/json-array.ts';
import { createJsonLineSplitter } from '../wire/json-lines.ts';
import { isJsonSpace, skipSpace } from '../wire/json-scan.ts';
import { JsonUnit } from '../wire/json-unit.ts';
import { createSseSplitter } from '../wire/sse.ts';

export interface FramingSink {
  /** An SSE event, or an array element or JSON line (which have no type). */
  readonly onEvent: (eventType: string | null, data: Buffer) => void;
  readonly onFrame: (frame: AwsFrame) => void;
  /** Called once at the end; a large body comes as thinned text. */
  readonly onBody: (body: Buffer) => void;
  /** The array's closing bracket was seen, or JSON lines, which have no end mark, were finished. */
  readonly onClosed: () => void;
  /** `undecodable` at the end means an incomplete unit, which is normal in a cut answer. */
  readonly onProblem: (problem: 'too-large' | 'undecodable') => void;
}

export type FramingForm = 'json' | 'array' | 'lines' | 'events';

export interface Framing {
  /** The content type's form until the first bytes decide; null when the body is not read. */
  readonly form: FramingForm | null;
  readonly push: (chunk: Buffer) => void;
  readonly finish: () => void;
  readonly bufferedBytes: number;
}

/**
 * Not an object literal with a getter: of each of those the engine makes a hidden class of its own, which keeps all
 * that the getter can see alive until the next full garbage collection.
 */
class FramingOf implements Framing {
  /** Mutable: once the body's form is known, its own reader takes the chunks directly. */
  push: (chunk: Buffer) => void;
  readonly finish: () => void;
  readonly #readForm: () => FramingForm | null;
  readonly #countBytes: () => number;

  constructor(
    form: FramingForm | (() => FramingForm | null),
    push: (chunk: Buffer) => void,
    finish: () => void,
    countBytes: () => number,
  ) {
    this.#readForm = typeof form === 'string' ? () => form : form;
    this.push = push;
    this.finish = finish;
    this.#countBytes = countBytes;
  }

  get form(): FramingForm | null {
    return this.#readForm();
  }

  get bufferedBytes(): number {
    return this.#countBytes();
  }
}

/** What the API is known to send, where the content type is not enough. */
export interface FramingHints {
  readonly canBeArray: boolean;
  /** Untyped bodies are JSON lines: file contents, batch results. */
  readonly areLines: boolean;
  /** Larger values and events are thinned; absent: the default for readers of usage. */
  readonly largeBytes?: number;
}

/** No type is registered for JSON lines. Anthropic sends the first for batch results. */
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
const UNTOLD_TYPES = ['', 'application/octet-stream', 'application/binary', 'binary/octet-stream', 'text/plain'];
const MEDIA_TYPE = /^(?:audio|font|image|multipart|video)\//;
const SSE_START = /^(?:data|event|id|retry)?:/;
const TOLD_BY_BYTES = 10;
/** The UTF-8 byte order mark, one character per byte. */
const BOM = '\u00ef\u00bb\u00bf';
const EMPTY = Buffer.alloc(0);
const BLANK_LINE = Buffer.from('\n');
const IGNORE = (): void => {};

type Format = 'events' | 'json';

/** Null when a body of this type is not read. */
export function createFraming(contentType: string | null, hints: FramingHints, sink: FramingSink): Framing | null {
  const mediaType = readMediaType(contentType ?? '');
  if (mediaType === 'application/vnd.amazon.eventstream') return createFrames(sink);
  if (LINES_TYPES.includes(mediaType)) return createLines(sink, hints);
  if (hints.areLines && UNTOLD_TYPES.includes(mediaType)) return createLines(sink, hints);
  if (MEDIA_TYPE.test(mediaType)) return null;
  return createByFirstBytes(readToldFormat(mediaType), hints, sink);
}

function readToldFormat(mediaType: string): Format | null {
  if (mediaType === 'text/event-stream') return 'events';
  return isJson(mediaType) ? 'json' : null;
}

/** Proxies mislabel JSON and events, so the first bytes decide, and the type only where they do not. */
function createByFirstBytes(told: Format | null, hints: FramingHints, sink: FramingSink): Framing {
  // Mutable: the first bytes until they decide; then the format, null when the body is not read.
  let head: Buffer = EMPTY;
  let hadBlanks = false;
  let isChosen = false;
  let chosen: Framing | null = null;

  function choose(format: Format | null): void {
    isChosen = true;
    chosen = createFormat(format, hints, sink);
    framing.push = chosen?.push ?? IGNORE;
    if (head.length > 0) chosen?.push(head);
    else if (hadBlanks) chosen?.push(BLANK_LINE);
    head = EMPTY;
  }

  const framing = new FramingOf(
    () => (isChosen ? (chosen?.form ?? null) : told),
    (chunk) => {
      const start = head.length === 0 ? skipSpace(chunk, 0) : 0;
      hadBlanks ||= start > 0;
      const rest = start === 0 ? chunk : chunk.subarray(start);
      head = head.length === 0 ? rest : Buffer.concat([head, rest]);
      const format = readFormat(head);
      if (format !== null) choose(format);
      else if (head.length >= TOLD_BY_BYTES) choose(told);
    },
    () => {
      if (!isChosen) choose(told);
      chosen?.finish();
    },
    () => chosen?.bufferedBytes ?? head.length,
  );
  return framing;
}

function readFormat(head: Buffer): Format | null {
  const text = head.toString('latin1', 0, TOLD_BY_BYTES).replace(BOM, '');
  if (text.startsWith('{') || text.startsWith('[')) return 'json';
  return SSE_START.test(text) ? 'events' : null;
}

function createFormat(format: Format | null, hints: FramingHints, sink: FramingSink): Framing | null {
  switch (format) {
    case 'events':
      return createEvents(sink, hints);
    case 'json':
      return hints.canBeArray ? createArrayOrWhole(sink, hints) : createWhole(sink, hints);
    case null:
      return null;
  }
}

/** Whether the content type says how the body is to be read, so that one that cannot be is broken. */
export function isFormTold(contentType: string | null): boolean {
  const mediaType = readMediaType(contentType ?? '');
  return (
    readToldFormat(mediaType) !== null ||
    LINES_TYPES.includes(mediaType) ||
    mediaType === 'application/vnd.amazon.eventstream'
  );
}

export function isJsonType(contentType: string | null): boolean {
  return isJson(readMediaType(contentType ?? ''));
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

function readMediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';');
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
}

function createEvents(sink: FramingSink, { largeBytes }: FramingHints): Framing {
  const splitter = createSseSplitter(sink.onEvent, () => sink.onProblem('too-large'), largeBytes);
  return new FramingOf('events', splitter.push, splitter.finish, () => splitter.bufferedBytes);
}

function createLines(sink: FramingSink, { largeBytes }: FramingHints): Framing {
  const splitter = createJsonLineSplitter(
    (line) => sink.onEvent(null, line),
    () => sink.onProblem('too-large'),
    largeBytes,
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

function createWhole(sink: FramingSink, { largeBytes }: FramingHints): Framing {
  const unit = new JsonUnit(() => sink.onProblem('too-large'), largeBytes);
  // Mutable: most answers have one piece, which is not copied.
  let first: Buffer | null = null;
  return new FramingOf(
    'json',
    (chunk) => {
      if (first === null && unit.isEmpty) first = chunk;
      else {
        if (first !== null) unit.push(first);
        first = null;
        unit.push(chunk);
      }
    },
    () => {
      const body = unit.take(first);
      first = null;
      if (body !== null) sink.onBody(body);
    },
    () => (first?.length ?? 0) + unit.length,
  );
}

function createArrayOrWhole(sink: FramingSink, hints: FramingHints): Framing {
  let chosen: Framing | null = null;
  return new FramingOf(
    () => chosen?.form ?? 'json',
    (chunk) => {
      chosen ??= chooseByFirstByte(chunk, sink, hints);
      chosen?.push(chunk);
    },
    () => chosen?.finish(),
    () => chosen?.bufferedBytes ?? 0,
  );
}

function chooseByFirstByte(chunk: Buffer, sink: FramingSink, hints: FramingHints): Framing | null {
  const first = chunk.find((byte) => !isJsonSpace(byte));
  if (first === undefined) return null;
  if (first !== 91) return createWhole(sink, hints);
  let wasClosed = false;
  const splitter = createJsonArraySplitter(
    (element) => sink.onEvent(null, element),
    () => sink.onProblem('too-large'),
    hints.largeBytes,
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
