/**
 * The text of a call for search and lists: what was said to the model and what it answered, of every format, however
 * much of the bodies was kept. Bodies are from strangers: nothing in them makes it throw or grow beyond its bounds.
 */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { readBoundary, readMultipartFields } from '../wire/multipart-fields.ts';
import { type CallMarks, markOf } from './call-marks.ts';
import { joinTexts } from './plain-text.ts';
import { createAnswerReader } from './read-answer.ts';
import { createPromptReader } from './read-prompt.ts';
import { readTail } from './read-tail.ts';
import { areJsonLines, readValues } from './read-values.ts';

/** One side of a call, with its content encoding undone. */
export interface PlainBody {
  /** The whole body, or its beginning. */
  readonly head: Buffer;
  /** Its end, where the middle was not kept. */
  readonly tail: Buffer | null;
  readonly contentType: string | null;
}

export interface CallTexts {
  /** Texts with line ends between them; at most `MAX_TEXT_CHARACTERS`. Empty where there is none. */
  readonly prompt: string;
  readonly answer: string;
  /** One line of at most `SNIPPET_CHARACTERS`. */
  readonly promptSnippet: string;
  readonly answerSnippet: string;
  readonly marks: CallMarks;
}

const FORM_FIELDS: readonly string[] = ['prompt', 'input', 'text'];
const LINES_TYPE = /json-?l|ndjson|json-lines/;
const EVENTS_TYPE = /event-stream/;
const FRAMES_TYPE = /amazon\.eventstream/;
const EVENTS_START = /^\s*(?:data|event|id|retry)?:/;
/** Transcriptions and subtitles. */
const TEXT_TYPE = /^(?:text\/(?!html)|application\/x-subrip)/;

export function readCallTexts(request: PlainBody | null, response: PlainBody | null): CallTexts {
  const prompt = readPrompt(request);
  const answer = readAnswer(response);
  return {
    prompt: prompt.text,
    answer: answer.text,
    promptSnippet: prompt.snippet,
    answerSnippet: answer.snippet,
    marks: { prompt: prompt.mark, conversation: prompt.innerMark, toolCalls: answer.innerMark },
  };
}

interface Side {
  readonly text: string;
  readonly snippet: string;
  readonly mark: string | null;
  /** Of a prompt's conversation, or of an answer's calls of tools. */
  readonly innerMark: string | null;
}

const NOTHING: Side = { text: '', snippet: '', mark: null, innerMark: null };

function readPrompt(body: PlainBody | null): Side {
  if (body === null) return NOTHING;
  const reader = createPromptReader();
  const boundary = readBoundary(body.contentType);
  if (boundary !== null) {
    for (const field of readMultipartFields(body.head, boundary, FORM_FIELDS).values()) reader.readMessages(field);
  } else {
    readValues(body.head, body.contentType, (value) => reader.read(value));
    readRest(body, (value, isLine) => (isLine ? reader.read(value) : reader.readMessages([value])));
  }
  const { texts } = reader;
  const mark = markOf(texts);
  const answered = reader.answeredTexts();
  const innerMark = answered === 0 ? mark : markOf(texts.slice(0, answered));
  return { text: joinTexts(texts), snippet: reader.snippet(), mark, innerMark };
}

function readAnswer(body: PlainBody | null): Side {
  if (body === null) return NOTHING;
  const reader = createAnswerReader();
  const type = (body.contentType ?? '').toLowerCase();
  let isAny = false;
  readValues(body.head, body.contentType, (value) => {
    isAny = true;
    reader.read(value);
  });
  reader.noteGap();
  readRest(body, (value) => reader.read(value));
  if (!isAny && TEXT_TYPE.test(type) && !EVENTS_TYPE.test(type)) {
    reader.readText(body.head.toString('utf8'));
    if (body.tail !== null) reader.readText(`\n${body.tail.toString('utf8')}`);
  }
  return {
    text: joinTexts(reader.texts()),
    snippet: reader.snippet(),
    mark: null,
    innerMark: markOf(reader.toolCalls()),
  };
}

/** What is whole behind the gap: events, lines, messages. Frames do not say where they begin, so they are not read. */
function readRest({ head, tail, contentType }: PlainBody, onValue: (value: JsonObject, isLine: boolean) => void): void {
  if (tail === null) return;
  const type = (contentType ?? '').toLowerCase();
  if (FRAMES_TYPE.test(type)) return;
  if (EVENTS_TYPE.test(type) || EVENTS_START.test(head.toString('latin1', 0, 16))) {
    const start = /\r?\n\r?\n/.exec(tail.toString('latin1'));
    if (start !== null) readValues(tail.subarray(start.index), contentType, (value) => onValue(value, true));
  } else if (LINES_TYPE.test(type) || areJsonLines(head)) {
    const end = tail.indexOf('\n');
    if (end !== -1) readValues(tail.subarray(end + 1), contentType, (value) => onValue(value, true));
  } else for (const value of readTail(tail.toString('utf8'))) onValue(value, false);
}
