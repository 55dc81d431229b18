/** The longest prompt and answer of a model, from public catalogs (`npm run prices:limits`). */
import type { ProviderName } from '../../vocabulary/call-record.ts';
import { completeBedrockId, readBedrockId } from '../bedrock-id.ts';
import data from './model-limits.json' with { type: 'json' };

/** Tokens; null where no catalog says. */
export interface ModelLimits {
  readonly prompt: number | null;
  readonly output: number | null;
}

interface LimitsRow {
  readonly context?: number;
  readonly output?: number;
  readonly models: readonly string[];
}

const ROWS: Readonly<Record<string, readonly LimitsRow[]>> = data.limits;

const LIMITS: ReadonlyMap<string, LimitsRow> = new Map(
  Object.entries(ROWS).flatMap(([provider, rows]) =>
    rows.flatMap((row) => row.models.map((model): [string, LimitsRow] => [`${provider}\n${model}`, row])),
  ),
);

/** `-2026-03-05`, `-20260305`, `@20260305`, `-latest`, `-001`. */
const SNAPSHOT = /(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|-latest|-00\d)$/;
/** `ft:BASE:organisation:name:id` */
const FINE_TUNED = /^ft:([^:]+):/;

function listNames(provider: ProviderName, model: string): readonly string[] {
  const name = model.toLowerCase();
  if (provider === 'bedrock') {
    const { base } = readBedrockId(name);
    return [base, ...completeBedrockId(base)];
  }
  const [, tuned = name] = FINE_TUNED.exec(name) ?? [];
  return [name, tuned, tuned.replace(SNAPSHOT, '')];
}

function largest(values: readonly (number | undefined)[]): number | null {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? null : Math.max(...known);
}

/** A model and its snapshots have one limit, of which catalogs sometimes know only a former one: the largest counts. */
export function findModelLimits(provider: ProviderName, model: string): ModelLimits {
  const rows = listNames(provider, model).flatMap((name) => LIMITS.get(`${provider}\n${name}`) ?? []);
  return { prompt: largest(rows.map(({ context }) => context)), output: largest(rows.map(({ output }) => output)) };
}
