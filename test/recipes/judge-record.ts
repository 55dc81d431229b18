/** What is wrong with the record of a recipe's call. Pure. */
import type { RecipeCase } from './recipe-cases.ts';

/** A call as `GET /api/v1/logs` shows it. */
export type LogRow = Readonly<Record<string, unknown>>;

const isAtLeastOne = (value: unknown): boolean => Number(value) >= 1;

/** Header names come in small letters from some clients. */
function readFeature(metadata: unknown): unknown {
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  return Object.entries(metadata).find(([name]) => name.toLowerCase() === 'feature')?.[1];
}

/** An empty list where all is as the page says. */
export function judgeRecord(one: RecipeCase, row: LogRow): readonly string[] {
  const expected = {
    outcome: 'ok',
    provider: one.provider,
    model_requested: one.model,
    trace_id: 'run-1',
    // The environment says a run, and no place in it.
    span_path: one.program === undefined ? 'plan/search' : null,
  };
  const differences = Object.entries(expected)
    .filter(([name, value]) => row[name] !== value)
    .map(([name, value]) => `${name} is ${JSON.stringify(row[name])}, not ${JSON.stringify(value)}`);
  const feature = readFeature(row['raw_metadata']);
  return [
    ...differences,
    ...(feature === 'checkout' ? [] : [`the metadata Feature is ${JSON.stringify(feature)}, not "checkout"`]),
    ...(isAtLeastOne(row['input_tokens']) && isAtLeastOne(row['output_tokens']) ? [] : ['it has no tokens']),
  ];
}
