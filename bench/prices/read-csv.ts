/** A table `provider,model,input,output[,CLASS…]`: USD for a million tokens, a minute of sound, a picture; no quotes. */
import { PROVIDER_NAMES, type ProviderName } from '../../src/call-record.ts';
import { USAGE_CLASSES, type UsageClass } from '../../src/token-usage.ts';
import { type CatalogueEntry, type CatalogueRate, UnreadableCatalogue } from './catalogue.ts';
import { readNumber } from './price-object.ts';

const HEADER = /^provider,model(?:,[a-z0-9_]+)+$/;

export function isCsv(text: string): boolean {
  return HEADER.test(text.split(/\r?\n/, 1)[0] ?? '');
}

export function readCsv(text: string, name: string): readonly CatalogueEntry[] {
  const [header = '', ...lines] = text.split(/\r?\n/);
  const units = header
    .split(',')
    .slice(2)
    .map((column): UsageClass => {
      const unit = USAGE_CLASSES.find((known) => known === column);
      if (unit === undefined)
        throw new UnreadableCatalogue(`${name}: line 1: no class is named "${column}": ${USAGE_CLASSES.join(', ')}`);
      return unit;
    });
  return lines.flatMap((line, index): CatalogueEntry[] => {
    if (line.trim() === '') return [];
    const [providerName = '', model = '', ...cells] = line.split(',').map((cell) => cell.trim());
    const provider = PROVIDER_NAMES.find((known): known is ProviderName => known === providerName);
    if (provider === undefined || model === '' || cells.length > units.length)
      throw new UnreadableCatalogue(
        `${name}: line ${index + 2}: needs one of ${PROVIDER_NAMES.join(', ')}, a model and at most ${units.length} prices`,
      );
    const rates = units.flatMap((unit, column): CatalogueRate[] => {
      const usd = readNumber(cells[column] ?? '');
      return usd === undefined ? [] : [{ unit, usd }];
    });
    return [{ provider, model, rates }];
  });
}
