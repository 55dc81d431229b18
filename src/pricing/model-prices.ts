/** Gathers and caches one model's rows and rules from all layers. */
import type { ProviderName } from '../vocabulary/call-record.ts';
import { dropOldest } from '../vocabulary/drop-oldest.ts';
import type { UsageClass } from '../vocabulary/token-usage.ts';
import { completeBedrockId, readBedrockId } from './bedrock-id.ts';
import { MAX_MODEL_LENGTH } from './billing-terms.ts';
import { BUNDLED_CATALOG, type Catalog, type CatalogModel, createCatalog } from './catalog.ts';
import { type Decimal, parseDecimal } from './decimal.ts';
import { createModelTest, type ModelTest } from './model-match.ts';
import type { CompiledOperatorPrices, DeclaredFor } from './operator-prices.ts';
import { createOverlayPrices } from './overlay-prices.ts';
import { readInstant } from './overlay-row.ts';
import { DERIVED_RULES, MULTIPLIER_RULES, RENAME_RULES, type TermName } from './overlay-rules.ts';
import type { PriceRow } from './price-row.ts';
import { listUnyielded } from './yielding-rows.ts';

export interface CompiledRule {
  readonly key: string;
  readonly provider: ProviderName;
  readonly appliesTo: ModelTest;
  readonly validFromMs: number | null;
  readonly validToMs: number | null;
  readonly source: string;
  readonly checkedOn: string;
}

export interface Multiplier extends CompiledRule {
  readonly term: TermName;
  readonly value: string;
  readonly factor: Decimal;
  readonly units: readonly UsageClass[];
}

export interface Derivation extends CompiledRule {
  readonly units: readonly UsageClass[];
  readonly of: UsageClass;
  readonly factor: Decimal;
}

export interface ModelRename extends CompiledRule {
  readonly model: string;
}

export interface ModelPrices {
  /** By rising precedence: the last row in force for a class counts. */
  readonly rows: readonly PriceRow[];
  readonly multipliers: readonly Multiplier[];
  readonly derivations: readonly Derivation[];
  readonly renames: readonly ModelRename[];
}

const NO_PRICES: ModelPrices = { rows: [], multipliers: [], derivations: [], renames: [] };

/** A bound, since clients can invent model names. */
export const MAX_MODELS_KEPT = 2_000;

function compileRule(
  rule: (typeof RENAME_RULES)[number] | (typeof DERIVED_RULES)[number] | (typeof MULTIPLIER_RULES)[number],
): CompiledRule {
  return {
    key: `overlay/${rule.name}`,
    provider: rule.provider,
    appliesTo: createModelTest(rule.match),
    validFromMs: readInstant(rule.from),
    validToMs: readInstant(rule.to),
    source: rule.source,
    checkedOn: rule.checkedOn,
  };
}

/** The ids under which prices may be declared; a Bedrock profile contains its model's id. */
function listNames(provider: ProviderName, model: string): readonly string[] {
  if (provider !== 'bedrock') return [model];
  const { geography, base } = readBedrockId(model);
  return geography === null ? [model] : [model, base];
}

/** Overlay rows for an id hold for each way to write it. */
function listForms(provider: ProviderName, names: readonly string[]): readonly string[] {
  return provider === 'bedrock' ? [...names, ...names.flatMap(completeBedrockId)] : names;
}

function findRows(catalog: Catalog, provider: ProviderName, names: readonly string[]): readonly PriceRow[] {
  for (const name of names) {
    const found: CatalogModel | undefined = catalog.findModel(provider, name);
    if (found !== undefined) return found.rows();
  }
  return [];
}

/** A price declared for a profile holds where the profile is served. */
function placeRows([model = '', base]: readonly string[], rows: readonly PriceRow[]): readonly PriceRow[] {
  if (base === undefined) return rows;
  const { geography } = readBedrockId(model);
  if (geography === null) return rows;
  const bases = listForms('bedrock', [base]);
  return rows.map((row) => (row.places === null && !bases.some(row.appliesTo) ? { ...row, places: [geography] } : row));
}

export type ModelPricesOf = (call: DeclaredFor, model: string) => ModelPrices;

export function createModelPrices(catalog: Catalog, operator: CompiledOperatorPrices): ModelPricesOf {
  const readOverlay = createOverlayPrices(catalog.checkedOn);
  // What the overlay was checked beside, in which nothing yields.
  const readOverlayBefore = createOverlayPrices('');
  const bundled = createCatalog(BUNDLED_CATALOG);
  const multipliers = MULTIPLIER_RULES.map(
    (rule): Multiplier => ({
      ...compileRule(rule),
      term: rule.term,
      value: rule.value,
      factor: parseDecimal(rule.factor),
      units: rule.units,
    }),
  );
  const derivations = DERIVED_RULES.map(
    (rule): Derivation => ({
      ...compileRule(rule),
      units: rule.units,
      of: rule.of,
      factor: parseDecimal(rule.factor),
    }),
  );
  const renames = RENAME_RULES.map((rule): ModelRename => ({ ...compileRule(rule), model: rule.model }));
  const kept = new Map<string, ModelPrices>();

  return (call, model) => {
    if (model.length > MAX_MODEL_LENGTH) return NO_PRICES;
    const { provider } = call;
    const alias = operator.ignoresAliases ? '' : (call.providerAlias ?? '');
    const key = `${provider}\n${alias}\n${model}`;
    const known = kept.get(key);
    // A hit moves to the end, so that the map's first key is the least recently used.
    if (known !== undefined) kept.delete(key);
    const names = listNames(provider, model);
    const forms = listForms(provider, names);
    const isFor = (entry: { readonly provider: ProviderName; readonly appliesTo: ModelTest }): boolean =>
      entry.provider === provider && forms.some(entry.appliesTo);
    const readRows = (): readonly PriceRow[] => {
      const overlay = readOverlay(provider, forms);
      const yielding = placeRows(names, overlay.yielding);
      const standing = placeRows(names, overlay.standing);
      const own = placeRows(names, findRows(catalog, provider, names));
      const listBefore = () => [
        ...placeRows(names, findRows(bundled, provider, names)),
        ...placeRows(names, readOverlayBefore(provider, forms).standing),
      ];
      const older =
        yielding.length === 0
          ? yielding
          : listUnyielded(yielding, { before: listBefore(), now: [...yielding, ...own, ...standing] });
      return [...older, ...own, ...standing, ...operator.listRows(call, model)];
    };
    const prices = known ?? {
      rows: readRows(),
      multipliers: multipliers.filter(isFor),
      derivations: derivations.filter(isFor),
      renames: renames.filter(isFor),
    };
    kept.set(key, prices);
    dropOldest(kept, MAX_MODELS_KEPT);
    return prices;
  };
}
