/** Counts a call's bodies in `o200k_base` tokens. It is slow and runs in its own thread. */
import { parseCutJson } from '../../../formats/texts/parse-cut-json.ts';
import { isObject } from '../../../formats/usage/read-json.ts';
import { readAnswerText } from './answer-text.ts';
import { type CountedText, countText, type TokenCounter } from './count-tokens.ts';
import type { NotCounted } from './not-counted.ts';
import { readPromptText } from './prompt-text.ts';

/** A message's markers and role. Source: OpenAI Cookbook, "How to count tokens with tiktoken", November 2026. */
const TOKENS_PER_MESSAGE = 4;
/** The answer's opening, which is billed as input. From the source above. */
const TOKENS_PER_ANSWER = 3;

export interface MeasuredBody {
  /** Decoded; only the head where the middle was not kept. */
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
  /** Tokens after the last report; null when there was none. */
  readonly tokensSinceReport: number | null;
  /** False: no text has come, although some may have been written. */
  readonly hasBegun: boolean;
}

/** Null: the body is missing or unreadable. */
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
