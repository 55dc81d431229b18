/** What `--require` asks for: a share of models for all providers, or for each by name. */
import { PROVIDER_NAMES, type ProviderName } from '../../src/vocabulary/call-record.ts';
import type { Coverage } from './compare-coverage.ts';
import { toPercent } from './format-coverage.ts';

export type Thresholds = Readonly<Partial<Record<ProviderName, number>>>;

function readShare(text: string): number {
  const share = /^\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (!(share >= 0 && share <= 100)) throw new Error(`--require: "${text}" is no share from 0 to 100`);
  return share;
}

/** `98`, or `openai=98,together=95`. Throws on anything else. */
export function parseThresholds(text: string): Thresholds {
  if (!text.includes('=')) {
    const share = readShare(text);
    return Object.fromEntries(PROVIDER_NAMES.map((provider) => [provider, share]));
  }
  return Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', share = ''] = part.split('=');
      const provider = PROVIDER_NAMES.find((known) => known === name.trim());
      if (provider === undefined) throw new Error(`--require: no provider is named "${name}"`);
      return [provider, readShare(share.trim())];
    }),
  );
}

/** A line for each provider of whose models that two catalogs price too few have one here, and for what differs. */
export function listShortfalls({ providers, disagreements }: Coverage, thresholds: Thresholds): readonly string[] {
  const short = providers.flatMap(({ provider, shared }) => {
    const wanted = thresholds[provider];
    const share = toPercent(shared);
    return wanted === undefined || share >= wanted ? [] : [`${provider}: ${share} % covered, wanted ${wanted} %`];
  });
  const open = disagreements.filter(({ provider, reason }) => reason === null && thresholds[provider] !== undefined);
  return open.length === 0 ? short : [...short, `${open.length} disagreements without a reason`];
}
