/** Typed numbers of tokens, `12,000` or `12000`, as whole numbers; what is none is a problem of its field. */

/** Longer ones no answer reports, and a number could not hold them exactly. */
const WHOLE = /^\d{1,12}$/;

export interface TokenCounts {
  readonly counts: Readonly<Record<string, number>>;
  readonly problems: Readonly<Record<string, string>>;
}

export function readTokenCounts(typed: Readonly<Record<string, string>>): TokenCounts {
  const counts: Record<string, number> = {};
  const problems: Record<string, string> = {};
  for (const [name, text] of Object.entries(typed)) {
    const digits = text.replaceAll(/[\s,_]/g, '');
    if (digits === '') continue;
    if (WHOLE.test(digits)) counts[name] = Number(digits);
    else problems[name] = 'Write a whole number.';
  }
  return { counts, problems };
}
