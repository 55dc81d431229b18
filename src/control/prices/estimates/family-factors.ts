/** Tokens of a model family for a text of a hundred in `o200k_base`; others count the same. */

interface FamilyFactor {
  readonly models: RegExp;
  readonly percent: number;
  readonly cjkPercent: number;
  readonly source: string;
}

const FAMILY_FACTORS: readonly FamilyFactor[] = [
  {
    // Opus 4.7 and later, and everything from version 5 on.
    models: /claude-(?:opus-4-[7-9]|[a-z]+-(?:[5-9]|\d\d))(?!\d)/,
    percent: 140,
    cjkPercent: 120,
    source:
      'Anthropic: 1.0 to 1.35 times the former tokens, by content. Measured against o200k by sammcj/ingest, pull request 65 (2026-08): 1.53 on one text. Between the two; for CJK the lower end of that range.',
  },
  {
    models: /claude/,
    percent: 110,
    cjkPercent: 120,
    source:
      'Measured with the Claude encoding of ai-tokenizer 1.0.6: 8.6 % more than o200k on prose, 8.7 % on code, 9.3 % on JSON, 22.5 % on CJK (2026-11). sammcj/ingest measured 18 % on one text.',
  },
];

const SAME = 100;

export function readFamilyPercent(model: string | null, isCjk: boolean): number {
  const family = FAMILY_FACTORS.find(({ models }) => models.test(model ?? ''));
  if (family === undefined) return SAME;
  return isCjk ? family.cjkPercent : family.percent;
}
