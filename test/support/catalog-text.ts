/** The bundled catalog as the file that it is published as, whole or changed in places. */
import { BUNDLED_CATALOG, CATALOG_PROVIDER_IDS } from '../../src/pricing/catalog.ts';

export function catalogText(): string {
  return JSON.stringify(
    CATALOG_PROVIDER_IDS.map((id) => ({ id, models: BUNDLED_CATALOG.findProvider(id)?.models ?? [] })),
  );
}

/** Each change is `[what stands there, what is to stand there]`, once each; throws when it does not stand there. */
export function changedCatalogText(...changes: readonly (readonly [string, string])[]): string {
  return changes.reduce((text, [before, after]) => {
    if (!text.includes(before)) throw new Error(`not in the catalog: ${before}`);
    return text.replace(before, after);
  }, catalogText());
}
