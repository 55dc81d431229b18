/** The options of commands that declare prices, and the request body from them. The gateway checks the body. */
import { OperatorError } from '../../vocabulary/errors.ts';
import { USAGE_CLASSES } from '../../vocabulary/token-usage.ts';
import { requireProvider } from '../command-options.ts';
import type { ChangeFlags } from './change-prices.ts';

const HELP_WIDTH = 78;

function wrap(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words.map((name, index) => (index < words.length - 1 ? `${name},` : name))) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < HELP_WIDTH) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines.join('\n');
}

export const UNITS_HELP = `
Units: US dollars for 1,000,000 tokens or characters, for a minute of sound
(input_audio_ms), for 1,000 of everything else (searches, pictures, requests).
Write the price list's figure: 1.25, not 0.00000125.

Usage classes:
${wrap(USAGE_CLASSES)}`;

export interface ScopeFlags extends ChangeFlags {
  readonly alias?: string;
  readonly from?: string;
  readonly to?: string;
  readonly note?: string;
}

export interface SetFlags extends ScopeFlags {
  readonly input?: string;
  readonly output?: string;
  readonly cacheRead?: string;
  readonly rate: readonly string[];
  readonly prefix?: true;
  readonly tier?: string;
  readonly overTokens?: string;
  readonly upToTokens?: string;
}

export function readScope(provider: string, flags: ScopeFlags) {
  return {
    provider: requireProvider(provider),
    provider_alias: flags.alias ?? null,
    valid_from: flags.from ?? null,
    valid_to: flags.to ?? null,
    note: flags.note ?? null,
  };
}

function readRate(text: string): readonly [string, string] {
  const [, name = '', rate = ''] = /^([a-z0-9_]+)=(\S+)$/.exec(text) ?? [];
  if (name === '') throw new OperatorError(`--rate: write class=usd, such as cache_creation_1h=2.5, not "${text}"`);
  return [name, rate];
}

export function readRates(flags: SetFlags): Readonly<Record<string, string>> {
  const entries = [
    ...(flags.input === undefined ? [] : [['input', flags.input] as const]),
    ...(flags.cacheRead === undefined ? [] : [['cache_read', flags.cacheRead] as const]),
    ...(flags.output === undefined ? [] : [['output', flags.output] as const]),
    ...flags.rate.map(readRate),
  ];
  if (entries.length === 0)
    throw new OperatorError('give at least one rate: --input, --output, --cache-read or --rate class=usd');
  const twice = entries.find(([name], index) => entries.findIndex(([other]) => other === name) !== index);
  if (twice !== undefined) throw new OperatorError(`${twice[0]} is given twice`);
  return Object.fromEntries(entries);
}

export function readTokens(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^\d{1,13}$/.test(text)) throw new OperatorError(`${name}: "${text}" is not a number of tokens`);
  return Number(text);
}
