/** Parses a catalog's model match by hand: unlike a schema it stops at the first fault of a hostile file. */
import type { MatchLogic } from '@pydantic/genai-prices';

/** Published rules are one or two deep. */
const MAX_RULE_DEPTH = 4;
const MAX_RULES = 1_500;
const MAX_TEXT_LENGTH = 512;
const MAX_EXPRESSION_LENGTH = 200;
/** Steps to match one name: some 30 ms. Published expressions take up to 10,000. */
const MAX_STEPS = 4_000_000;

export type ParsedMatch =
  | { readonly isOk: true; readonly match: MatchLogic }
  | { readonly isOk: false; readonly problem: string };

/**
 * An upper bound on an expression's steps per name; null when it is not simple. Clients invent names, so a slow
 * expression could stop the gateway. Each repetition multiplies by the length, each choice by two, and a missing anchor
 * restarts at every character. Repeated groups and back references are refused.
 */
function countSteps(text: string): number | null {
  if (text.length > MAX_EXPRESSION_LENGTH) return null;
  const bare = text
    .replace(/\\[1-9k]/g, ')*')
    .replace(/\\./g, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/\(\?(?:<?[=!]|:|<\w+>)/g, '(')
    .replace(/([*+?]|\{\d+,?\d*\})\?/g, '$1');
  if (/\)[*+{]/.test(bare) || !isExpression(text)) return null;
  const fixed = [...bare.matchAll(/\{(\d+)\}/g)].map(([, times = '']) => Number.parseInt(times, 10));
  const repetitions = bare.match(/[*+]|\{\d*,\d*\}/g)?.length ?? 0;
  const choices = bare.match(/[?|]/g)?.length ?? 0;
  const isAnchored = bare.startsWith('^') && !withoutGroups(bare).includes('|');
  const length = fixed.reduce((sum, times) => sum + times, bare.length);
  return length * MAX_TEXT_LENGTH ** (repetitions + (isAnchored ? 0 : 1)) * 2 ** choices;
}

/** Leaves the top-level alternatives, each of which needs an anchor. */
function withoutGroups(text: string): string {
  const fewer = text.replace(/\([^()]*\)/g, 'x');
  return fewer === text ? text : withoutGroups(fewer);
}

function isExpression(text: string): boolean {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
}

function fail(problem: string): ParsedMatch {
  return { isOk: false, problem };
}

function readText(name: string, text: string): ParsedMatch {
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
      return (countSteps(text) ?? Number.POSITIVE_INFINITY) <= MAX_STEPS
        ? { isOk: true, match: { regex: text } }
        : fail('its regex is not a regular expression of the simple kind');
    default:
      return fail('is no rule for names that is known');
  }
}

export function parseMatch(value: unknown): ParsedMatch {
  let rules = 0;

  function read(part: unknown, depth: number): ParsedMatch {
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

/** The number of rules, and the steps of their expressions together. */
export function countRules(match: MatchLogic): { readonly rules: number; readonly steps: number } {
  const parts = 'or' in match ? match.or : 'and' in match ? match.and : null;
  if (parts === null) return { rules: 1, steps: 'regex' in match ? (countSteps(match.regex) ?? 0) : 0 };
  return parts
    .map(countRules)
    .reduce((sum, part) => ({ rules: sum.rules + part.rules, steps: sum.steps + part.steps }));
}
