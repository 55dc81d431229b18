/** Limits as they are typed, and the numbers that they mean. */
import type { Limits } from '../../api/limits.ts';

export interface TypedLimits {
  readonly concurrent: string;
  readonly requests: string;
  readonly tokens: string;
}

const WHOLE = /^[1-9]\d{0,12}$/;

export function typedLimitsOf(limits: Limits): TypedLimits {
  const text = (most: number | null) => (most === null ? '' : String(most));
  return {
    concurrent: text(limits.max_concurrent),
    requests: text(limits.requests_per_minute),
    tokens: text(limits.tokens_per_minute),
  };
}

function isSound(text: string): boolean {
  return text.trim() === '' || WHOLE.test(text.trim());
}

/** Of one field; null while it is right. */
export function findLimitProblem(text: string): string | null {
  return isSound(text) ? null : 'a whole number above 0, or nothing';
}

/** Throws for what is no whole number, `100,000` as well: left to JSON it would become null, which is any number. */
export function readLimits({ concurrent, requests, tokens }: TypedLimits): Limits {
  const most = (text: string) => {
    if (!isSound(text)) throw new Error('Write whole numbers above 0, or nothing.');
    return text.trim() === '' ? null : Number(text.trim());
  };
  return {
    max_concurrent: most(concurrent),
    requests_per_minute: most(requests),
    tokens_per_minute: most(tokens),
  };
}
