/**
 * A rule of an imported catalogue, which model names it is for. Read by hand and not by a schema: it stops at the first
 * thing that is wrong, whatever else a hostile file has. It decides nothing about prices.
 */
import type { MatchLogic } from '@pydantic/genai-prices';

/** Published rules are one or two deep. */
const MAX_RULE_DEPTH = 4;
const MAX_RULES = 1_500;
/** Of no use for longer names: those have no price. */
const MAX_TEXT_LENGTH = 512;
const MAX_EXPRESSION_LENGTH = 200;
/** `?`, alternatives: each may double the ways to look at a name. Published ones have one at most. */
const MAX_CHOICES = 3;
/** Each multiplies the ways by the length of the name. */
const MAX_REPETITIONS = 2;

export type MatchReading =
  | { readonly isOk: true; readonly match: MatchLogic }
  | { readonly isOk: false; readonly problem: string };

/**
 * Expressions run on names that clients make up, so one that takes for ever would be a way to stop the gateway. What can
 * be matched in several ways is counted: repetitions of any number of times, choices. A repeated group or a reference
 * back is refused. Published catalogues have one repetition at most, and of a single character.
 */
export function isSafeExpression(text: string): boolean {
  if (text.length > MAX_EXPRESSION_LENGTH) return false;
  const bare = text
    .replace(/\\[1-9k]/g, ')*')
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(')
    // Greedy or not is the same work.
    .replace(/([*+?}])\?/g, '$1');
  if (/\)[*+{]/.test(bare)) return false;
  const repetitions = bare.match(/[*+]|\{\d*,\d*\}|\{\d{3,}\}/g)?.length ?? 0;
  const choices = bare.match(/[?|]/g)?.length ?? 0;
  // Without the anchor it begins anew at every character.
  const isAnchored = bare.startsWith('^') && !bare.includes('|');
  if (choices > MAX_CHOICES || repetitions + (isAnchored ? 0 : 1) > MAX_REPETITIONS) return false;
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function fail(problem: string): MatchReading {
  return { isOk: false, problem };
}

function readText(name: string, text: string): MatchReading {
  if (text.length > MAX_TEXT_LENGTH) return fail('is longer than a name may be');
  switch (name) {
    case 'equals':
      return { isOk: true, match: { equals: text } };
    case 'starts_with':
      return text === '' ? fail('starts_with nothing is for every name') : { isOk: true, match: { starts_with: text } };
    case 'ends_with':
      return text === '' ? fail('ends_with nothing is for every name') : { isOk: true, match: { ends_with: text } };
    case 'contains':
      return text === '' ? fail('contains nothing is for every name') : { isOk: true, match: { contains: text } };
    case 'regex':
      return isSafeExpression(text)
        ? { isOk: true, match: { regex: text } }
        : fail('its regex is not a regular expression of the simple kind');
    default:
      return fail('is no rule for names that is known');
  }
}

/** Never throws. */
export function readMatch(value: unknown): MatchReading {
  let rules = 0;

  function read(part: unknown, depth: number): MatchReading {
    const [entry, ...others] = typeof part === 'object' && part !== null ? Object.entries(part) : [];
    if (entry === undefined || others.length > 0 || Array.isArray(part)) return fail('is no rule for names');
    const [name, content]: [string, unknown] = entry;
    if (typeof content === 'string') {
      rules += 1;
      return rules > MAX_RULES ? fail(`has more than ${MAX_RULES} rules for names`) : readText(name, content);
    }
    if ((name !== 'or' && name !== 'and') || !Array.isArray(content) || content.length === 0)
      return fail('is no rule for names that is known');
    if (depth === MAX_RULE_DEPTH) return fail(`nests rules more than ${MAX_RULE_DEPTH} deep`);
    const matches: MatchLogic[] = [];
    for (const item of content) {
      const reading = read(item, depth + 1);
      if (!reading.isOk) return reading;
      matches.push(reading.match);
    }
    return { isOk: true, match: name === 'or' ? { or: matches } : { and: matches } };
  }

  return read(value, 0);
}

/** Those that look at names, and those of them that are expressions, which take longest. */
export function countRules(match: MatchLogic): { readonly rules: number; readonly expressions: number } {
  const parts = 'or' in match ? match.or : 'and' in match ? match.and : null;
  if (parts === null) return { rules: 1, expressions: 'regex' in match ? 1 : 0 };
  return parts.map(countRules).reduce((sum, part) => ({
    rules: sum.rules + part.rules,
    expressions: sum.expressions + part.expressions,
  }));
}
