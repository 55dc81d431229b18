/** What this node was started with, of the settings that all nodes share: nothing where it only takes calls. */
import type { Config, Setting } from '../config.ts';
import { type OwnSettings, SHARED_SETTINGS } from '../store/shared-settings.ts';

export function readOwnSettings(config: Config, settings: readonly Setting[]): OwnSettings {
  if (config.role === 'proxy') return {};
  const isGiven = (variable: string) => settings.some(({ name, source }) => name === variable && source !== 'default');
  const own = (name: 'retention_rows' | 'retention_bodies' | 'estimates' | 'price_feed', value: string) => ({
    value,
    isGiven: isGiven(SHARED_SETTINGS[name].variable),
  });
  return {
    retention_rows: own('retention_rows', String(config.retentionRowsDays)),
    retention_bodies: own('retention_bodies', String(config.retentionBodiesDays)),
    estimates: own('estimates', config.estimates),
    // Where a feed is fetched from is each node's own.
    price_feed: own('price_feed', config.priceFeed === 'off' ? 'off' : 'on'),
  };
}
