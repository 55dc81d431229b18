/** Reads `TOLLGATE_REDIRECTS_…` and `TOLLGATE_ADDRESSES_…`: rules for answers that lead around the gateway. */
import { PROVIDER_NAMES } from '../../vocabulary/call-record.ts';
import type { Config, Environment, LeadingRule } from '../../vocabulary/config.ts';
import { refuse } from './given-setting.ts';

const SETTING = new RegExp(
  `^TOLLGATE_(REDIRECTS|ADDRESSES)_(${PROVIDER_NAMES.join('|').toUpperCase()})(?:_([A-Z0-9_]+))?$`,
);

export function isLeadingSetting(variable: string): boolean {
  return SETTING.test(variable);
}

export function readLeading(env: Environment): Config['leading'] {
  const leading: Partial<Record<keyof Config['leading'], Record<string, LeadingRule>>> = {};
  for (const variable of Object.keys(env).sort()) {
    const [, what, upperName = '', upperAlias = ''] = SETTING.exec(variable) ?? [];
    const provider = PROVIDER_NAMES.find((known) => known.toUpperCase() === upperName);
    const value = env[variable]?.trim().toLowerCase() ?? '';
    if (provider === undefined || value === '') continue;
    const alias = upperAlias.toLowerCase().replaceAll('_', '-');
    const before = leading[provider]?.[alias] ?? { redirects: 'refuse', addresses: 'keep' };
    leading[provider] = {
      ...leading[provider],
      [alias]: what === 'REDIRECTS' ? withRedirects(before, variable, value) : withAddresses(before, variable, value),
    };
  }
  return leading;
}

function withRedirects(rule: LeadingRule, variable: string, value: string): LeadingRule {
  if (value === 'refuse' || value === 'pass') return { ...rule, redirects: value };
  throw refuse({ name: variable, value }, '"refuse" or "pass"');
}

function withAddresses(rule: LeadingRule, variable: string, value: string): LeadingRule {
  if (value === 'keep' || value === 'rewrite') return { ...rule, addresses: value };
  throw refuse({ name: variable, value }, '"keep" or "rewrite"');
}
