/** A file, whichever of the known catalogs it is. */
import { basename } from 'node:path';
import { type Catalog, type CatalogEntry, type CatalogRate, UnreadableCatalog } from './catalog.ts';
import { isCsv, readCsv } from './read-csv.ts';
import { isGenaiPrices, readGenaiPrices } from './read-genai-prices.ts';
import { isLangfuse, readLangfuse } from './read-langfuse.ts';
import { isLitellm, readLitellm } from './read-litellm.ts';
import { isModelsDev, readModelsDev } from './read-models-dev.ts';
import { isPortkey, readPortkey } from './read-portkey.ts';

const FORMS =
  "litellm's model_prices_and_context_window.json, models.dev's api.json, genai-prices' data.json, Portkey-AI/models' pricing/PROVIDER.json, langfuse's default-model-prices.json, or a CSV that begins with provider,model,input,output";

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnreadableCatalog(`${name}: neither JSON (${String(error)}) nor such a table. Wanted: ${FORMS}`);
  }
}

function readEntries(name: string, text: string, day: string): readonly CatalogEntry[] {
  if (isCsv(text)) return readCsv(text, name);
  const file = parseJson(name, text);
  if (isLitellm(file)) return readLitellm(file, day);
  if (isModelsDev(file)) return readModelsDev(file);
  if (isPortkey(file)) return readPortkey(file, name);
  if (isLangfuse(file)) return readLangfuse(file);
  if (isGenaiPrices(file)) return readGenaiPrices(file, day);
  throw new UnreadableCatalog(`${name}: JSON, but no catalog that is known here. Wanted: ${FORMS}`);
}

/**
 * Catalogs have one rate for writes to the cache, whatever the provider sells: OpenAI's last for 30 minutes, and what
 * stands there for Google is what keeping a prompt costs, which is no price of tokens.
 */
function toSoldClasses({ provider, model, rates }: CatalogEntry): CatalogEntry {
  const isWrite = ({ usageClass }: CatalogRate) => usageClass.startsWith('cache_creation');
  if (provider === 'gemini') return { provider, model, rates: rates.filter((rate) => !isWrite(rate)) };
  if (provider !== 'openai') return { provider, model, rates };
  const sold = rates.filter(({ usageClass }) => usageClass !== 'cache_creation_1h');
  return {
    provider,
    model,
    rates: sold.map((rate) => (isWrite(rate) ? { ...rate, usageClass: 'cache_creation_30m' } : rate)),
  };
}

/** The first entry with a price counts where a file has a model twice. `day`: ISO, on which prices are asked for. */
export function readCatalog(name: string, text: string, day: string): Catalog {
  const kept = new Map<string, CatalogEntry>();
  for (const entry of readEntries(name, text, day).map(toSoldClasses)) {
    const key = `${entry.provider}\n${entry.model.toLowerCase()}`;
    const known = kept.get(key);
    if (known === undefined || (known.rates.length === 0 && entry.rates.length > 0)) kept.set(key, entry);
  }
  if (kept.size === 0) throw new UnreadableCatalog(`${name}: has no model of the seven providers`);
  return { name: basename(name), entries: [...kept.values()] };
}
