/** A table `provider,model,input,output[,CLASS…]`: USD for a million tokens, a minute of sound, a picture; no quotes. */
import { PROVIDER_NAMES, type ProviderName } from '../../src/vocabulary/call-record.ts';
import { USAGE_CLASSES, type UsageClass } from '../../src/vocabulary/token-usage.ts';
import { type CatalogEntry, type CatalogRate, UnreadableCatalog } from './catalog.ts';
import { readNumber } from './price-object.ts';

const HEADER = /^provider,model(?:,[a-z0-9_]+)+$/;

export function isCsv(text: string): boolean {
  return HEADER.test(text.split(/\r?\n/, 1)[0] ?? '');
}

export function readCsv(text: string, name: string): readonly CatalogEntry[] {
  const [header = '', ...lines] = text.split(/\r?\n/);
  const units = header
    .split(',')
    .slice(2)
    .map((column): UsageClass => {
      const usageClass = USAGE_CLASSES.find((known) => known === column);
      if (usageClass === undefined)
        throw new UnreadableCatalog(`${name}: line 1: no class is named "${column}": ${USAGE_CLASSES.join(', ')}`);
      return usageClass;
    });
  return lines.flatMap((line, index): CatalogEntry[] => {
    if (line.trim() === '') return [];
    const [providerName = '', model = '', ...cells] = line.split(',').map((cell) => cell.trim());
    const provider = PROVIDER_NAMES.find((known): known is ProviderName => known === providerName);
    if (provider === undefined || model === '' || cells.length > units.length)
      throw new UnreadableCatalog(
        `${name}: line ${index + 2}: needs one of ${PROVIDER_NAMES.join(', ')}, a model and at most ${units.length} prices`,
      );
    const rates = units.flatMap((usageClass, column): CatalogRate[] => {
      const usd = readNumber(cells[column] ?? '');
      return usd === undefined ? [] : [{ usageClass, usd }];
    });
    return [{ provider, model, rates }];
  });
}
