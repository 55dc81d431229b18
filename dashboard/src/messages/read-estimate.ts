/** The estimate of a call whose usage nobody reported, in words. It is no cost and no part of one. */
import { isRecord, readNumber, readText, toList } from './json-reading.ts';

export interface EstimateView {
  /** Tokens that were counted; null where they were reported, or could not be counted. */
  readonly input: number | null;
  readonly output: number | null;
  readonly method: string | null;
  readonly notes: readonly string[];
}

const NOT_COUNTED: Readonly<Record<string, string>> = {
  media: 'images, audio and files',
  stored_context: 'what the provider keeps and the request only names',
  hidden_reasoning: 'thoughts that were not sent',
  answer: 'the answer, of which nothing came',
};

const UNAVAILABLE: Readonly<Record<string, string>> = {
  no_body: 'There is no estimate: the bodies were not kept.',
  endpoint: 'There is no estimate for calls of this kind.',
  unreadable: 'There is no estimate: the bodies could not be read.',
  failed: 'There is no estimate: counting took too long.',
};

function lookUp(words: Readonly<Record<string, string>>, name: string): string | null {
  return Object.hasOwn(words, name) ? (words[name] ?? null) : null;
}

export function readEstimate(estimatedTokens: unknown): EstimateView | null {
  if (!isRecord(estimatedTokens)) return null;
  const unavailable = readText(estimatedTokens, 'unavailable');
  if (unavailable !== null) {
    const note = lookUp(UNAVAILABLE, unavailable) ?? 'There is no estimate.';
    return { input: null, output: null, method: null, notes: [note] };
  }
  const missing = toList(estimatedTokens['not_counted']).map(
    (what) => lookUp(NOT_COUNTED, String(what)) ?? String(what),
  );
  return {
    input: readNumber(estimatedTokens, 'input'),
    output: readNumber(estimatedTokens, 'output'),
    method: readText(estimatedTokens, 'method'),
    notes: [
      ...(estimatedTokens['cut'] === true
        ? ['A part of the bodies was not kept; it is taken to be like the rest.']
        : []),
      ...(missing.length === 0 ? [] : [`Not counted: ${missing.join('; ')}.`]),
    ],
  };
}
