/** This node's own values of the shared settings; none for a proxy-only node. */
import type { Config, Setting } from '../../vocabulary/config.ts';
import { type OwnSettings, SHARED_SETTINGS } from '../store/shared-settings.ts';

export function readOwnSettings(config: Config, settings: readonly Setting[]): OwnSettings {
  if (config.role === 'proxy') return {};
  const isGiven = (variable: string) => settings.some(({ name, source }) => name === variable && source !== 'default');
  const own = (name: 'retention_rows' | 'retention_bodies' | 'search' | 'estimates' | 'price_feed', value: string) => ({
    value,
    isGiven: isGiven(SHARED_SETTINGS[name].variable),
  });
  return {
    retention_rows: own('retention_rows', String(config.retentionRowsDays)),
    retention_bodies: own('retention_bodies', String(config.retentionBodiesDays)),
    search: own('search', config.search),
    estimates: own('estimates', config.estimates),
    price_feed: own('price_feed', config.priceFeed === 'off' ? 'off' : 'on'),
  };
}
