/** What is wrong with the record of a recipe's call. Pure. */
import type { Expected, RecipeCase } from './recipe-cases.ts';

/** A call as `GET /api/v1/logs` shows it. */
export type LogRow = Readonly<Record<string, unknown>>;

const isAtLeastOne = (value: unknown): boolean => Number(value) >= 1;

/** Header names come in small letters from some clients. */
function readFeature(metadata: unknown): unknown {
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  return Object.entries(metadata).find(([name]) => name.toLowerCase() === 'feature')?.[1];
}

function isAs(value: unknown, expected: Expected): boolean {
  return expected instanceof RegExp ? typeof value === 'string' && expected.test(value) : value === expected;
}

/** An empty list where all is as the page says. */
export function judgeRecord(one: RecipeCase, row: LogRow): readonly string[] {
  const { traceId = 'run-1', spanPath = 'plan/search', feature = 'checkout', client } = one;
  const expected: Readonly<Record<string, Expected>> = {
    outcome: 'ok',
    provider: one.provider,
    model_requested: one.model,
    trace_id: traceId,
    span_path: spanPath,
    ...(client === undefined ? {} : { client }),
  };
  const differences = Object.entries(expected)
    .filter(([name, value]) => !isAs(row[name], value))
    .map(([name, value]) => `${name} is ${JSON.stringify(row[name])}, not ${say(value)}`);
  const found = readFeature(row['raw_metadata']) ?? null;
  return [
    ...differences,
    ...(found === feature ? [] : [`the metadata Feature is ${JSON.stringify(found)}, not ${JSON.stringify(feature)}`]),
    ...(isAtLeastOne(row['input_tokens']) && isAtLeastOne(row['output_tokens']) ? [] : ['it has no tokens']),
  ];
}

function say(value: Expected): string {
  return value instanceof RegExp ? String(value) : JSON.stringify(value);
}
