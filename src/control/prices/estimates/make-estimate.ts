/** Makes an estimate from counts of a call's bodies and its reports. Reported classes are not estimated. */
import type { ClassQuantities, JsonObject } from '../../../vocabulary/token-usage.ts';
import { readFamilyPercent } from './family-factors.ts';
import type { AnswerMeasure, Measured, PromptMeasure } from './measure-bodies.ts';
import type { NotCounted } from './not-counted.ts';

/** Why a call has no estimate; stored, so that it is not tried again. */
export type Unavailable =
  /** Bodies are off, were dropped, or were lost with the gateway. */
  | 'no_body'
  | 'endpoint'
  /** Not JSON, an unknown stream, or an undecodable encoding. */
  | 'unreadable'
  | 'failed';

/** Equal when nothing is missing. */
export interface BodyShare {
  readonly seenBytes: number;
  readonly totalBytes: number;
}

export interface EstimateInput {
  readonly model: string | null;
  readonly reported: ClassQuantities;
  readonly hasAnswer: boolean;
  readonly measured: Measured;
  readonly request: BodyShare | null;
  readonly response: BodyShare | null;
}

export type Estimate =
  | { readonly kind: 'made'; readonly estimatedTokens: JsonObject }
  | { readonly kind: 'unavailable'; readonly reason: Unavailable };

const PROMPT_CLASSES = /^(?:input|cache_)/;

function isPromptReported(reported: ClassQuantities): boolean {
  return Object.keys(reported).some((name) => PROMPT_CLASSES.test(name));
}

export function makeEstimate(input: EstimateInput): Estimate {
  const { measured, reported, request, response, hasAnswer } = input;
  const needsPrompt = !isPromptReported(reported);
  const prompt = needsPrompt ? measured.prompt : null;
  if (needsPrompt && prompt === null)
    return { kind: 'unavailable', reason: request === null ? 'no_body' : 'unreadable' };
  const answer = hasAnswer && measured.answer?.hasBegun === true ? measured.answer : null;
  if (prompt === null && answer === null)
    return { kind: 'unavailable', reason: response === null ? 'no_body' : 'unreadable' };

  const percent = readFamilyPercent(input.model, isMostlyCjk(prompt, answer));
  const counted: { input?: number; output?: number } = {};
  if (prompt !== null) counted.input = scale(prompt.tokens, percent, request);
  if (answer !== null) counted.output = countOutput(answer, percent, response, reported.output);
  const notCounted = new Set<NotCounted>([...(prompt?.notCounted ?? []), ...(answer?.notCounted ?? [])]);
  if (hasAnswer && answer === null) notCounted.add('answer');
  const isCut = (prompt !== null && isPart(request)) || (answer !== null && isPart(response));
  return {
    kind: 'made',
    estimatedTokens: {
      ...counted,
      method: describeMethod(percent, prompt?.isRough === true || answer?.isRough === true),
      ...(isCut ? { cut: true } : {}),
      ...(notCounted.size === 0 ? {} : { not_counted: [...notCounted] }),
    },
  };
}

function isMostlyCjk(prompt: PromptMeasure | null, answer: AnswerMeasure | null): boolean {
  if (prompt === null || answer === null) return (prompt ?? answer)?.isCjk === true;
  return (prompt.tokens > answer.tokens ? prompt : answer).isCjk;
}

function isPart(share: BodyShare | null): boolean {
  return share !== null && share.seenBytes < share.totalBytes;
}

/** Scales by the measured share: most bytes of a stream are not text, so a rule of bytes per token would be far off. */
function scale(tokens: number, percent: number, share: BodyShare | null): number {
  const own = (tokens * percent) / 100;
  if (share === null || !isPart(share) || share.seenBytes === 0) return Math.ceil(own);
  return Math.ceil(own * (share.totalBytes / share.seenBytes));
}

/** A report inside a stream covers everything before it, hidden thoughts included. */
function countOutput(
  answer: AnswerMeasure,
  percent: number,
  share: BodyShare | null,
  reported: number | undefined,
): number {
  const { tokens, tokensSinceReport } = answer;
  if (reported !== undefined && tokensSinceReport !== null && !isPart(share))
    return reported + scale(tokensSinceReport, percent, share);
  return Math.max(reported ?? 0, scale(tokens, percent, share));
}

function describeMethod(percent: number, isRough: boolean): string {
  const factor = percent === 100 ? '' : ` × ${percent / 100}`;
  return `o200k_base${factor}${isRough ? ', partly bytes / 3.7' : ''}`;
}
