/** The columns that say what a key's calls may use, and what the proxies are told of them. */
import type { KeyAllowance, KeyEntry } from '../../vocabulary/channel.ts';
import { namesOf } from '../../vocabulary/record-of.ts';

export const ALLOWANCE_FIELDS = {
  allowedProviders: 'allowed_providers',
  allowedModels: 'allowed_models',
  allowedAliases: 'allowed_aliases',
  allowedEndpoints: 'allowed_endpoints',
  allowedNetworks: 'allowed_networks',
} as const;

/** Null lists allow all. */
export type AllowanceColumns = { readonly [Field in keyof typeof ALLOWANCE_FIELDS]: readonly string[] | null };

const KINDS: Readonly<Record<keyof AllowanceColumns, keyof KeyAllowance>> = {
  allowedProviders: 'providers',
  allowedModels: 'models',
  allowedAliases: 'aliases',
  allowedEndpoints: 'endpoints',
  allowedNetworks: 'networks',
};

/** Of the table `k`. */
export const ALLOWANCE_COLUMNS = namesOf(ALLOWANCE_FIELDS)
  .map((field) => `k.${ALLOWANCE_FIELDS[field]} as "${field}"`)
  .join(', ');

/** Empty where the key may use everything. */
export function toAllowance(key: AllowanceColumns): Pick<KeyEntry, 'allow'> {
  const limited = namesOf(KINDS).filter((field) => key[field] !== null);
  if (limited.length === 0) return {};
  return { allow: Object.fromEntries(limited.map((field) => [KINDS[field], key[field]])) };
}
