/** A call's bodies to counts of tokens, by `o200k_base`. Takes its time: it runs in a thread of its own. */
import { isObject } from '../shapes/json-reading.ts';
import { readAnswerText } from './answer-text.ts';
import { type CountedText, countText, type TokenCounter } from './count-tokens.ts';
import type { NotCounted } from './not-counted.ts';
import { parseCutJson } from './parse-cut-json.ts';
import { readPromptText } from './prompt-text.ts';

/**
 * What each message costs beside its text: marks of its beginning and end, and the role.
 * Source: OpenAI Cookbook, "How to count tokens with tiktoken", 3 for each message and 1 for its role; November 2026.
 */
const TOKENS_PER_MESSAGE = 4;
/** The answer's own beginning, which is read, too. Same source. */
const TOKENS_PER_ANSWER = 3;

export interface MeasuredBody {
  /** Decoded. Of a body whose middle was not kept, its head. */
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
}

export interface MeasureTask {
  readonly request: MeasuredBody | null;
  readonly response: MeasuredBody | null;
}

export interface PromptMeasure extends CountedText {
  readonly notCounted: readonly NotCounted[];
}

export interface AnswerMeasure extends PromptMeasure {
  /** Of what came after the last report of tokens written so far; null when there was none. */
  readonly tokensSinceReport: number | null;
  /** False: nothing that was written has come, although it may have been. */
  readonly hasBegun: boolean;
}

/** Null: there is no such body, or it is not of a kind that can be read. */
export interface Measured {
  readonly prompt: PromptMeasure | null;
  readonly answer: AnswerMeasure | null;
}

export function measureBodies({ request, response }: MeasureTask, counter: TokenCounter): Measured {
  return {
    answer: response === null ? null : measureAnswer(response, counter),
    prompt: request === null ? null : measurePrompt(request, counter),
  };
}

function measurePrompt({ bytes }: MeasuredBody, counter: TokenCounter): PromptMeasure | null {
  const body = parseCutJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  if (!isObject(body)) return null;
  const { text, messages, tokens, notCounted } = readPromptText(body);
  if (text.texts.length === 0 && text.overBytes === 0 && tokens === 0) return null;
  const counted = countText(text, counter);
  const frames = messages === 0 ? 0 : messages * TOKENS_PER_MESSAGE + TOKENS_PER_ANSWER;
  return { ...counted, tokens: counted.tokens + tokens + frames, notCounted };
}

function measureAnswer({ bytes, contentType }: MeasuredBody, counter: TokenCounter): AnswerMeasure | null {
  const text = readAnswerText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), contentType);
  if (text === null) return null;
  const { all, sinceReport, hasBegun, notCounted } = text;
  const tokensSinceReport = sinceReport === null ? null : countText(sinceReport, counter).tokens;
  return { ...countText(all, counter), tokensSinceReport, hasBegun, notCounted };
}
