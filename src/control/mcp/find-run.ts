/** A run with its steps, as far as the caller may see it. */
import { z } from 'zod';
import { type AskApi, askJson, pathOf, type ReadScope, ToolError } from './ask-api.ts';
import { endOf, isOwnRun, traceFilter } from './own-run.ts';
import { readCosts } from './read-costs.ts';

const Step = z.object({
  names: z.array(z.string()),
  calls: z.number(),
  own_calls: z.number(),
  errors: z.number(),
  total_cost: z.string(),
  own_cost: z.string(),
  unpriced_calls: z.number(),
  input_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  output_tokens: z.number(),
  started_at: z.string(),
  ended_at: z.string(),
});

const Run = z
  .object({
    trace_id: z.string(),
    started_at: z.string(),
    ended_at: z.string(),
    key_ids: z.array(z.number()),
    calls: z.number(),
    open_calls: z.number(),
    steps: z.array(Step),
    steps_cut: z.boolean(),
  })
  .loose();
type WholeRun = z.infer<typeof Run>;

export interface FoundRun {
  readonly traceId: string;
  readonly from: string;
  readonly to: string;
  /** Null where it has calls of keys that the caller may not see. */
  readonly whole: WholeRun | null;
}

export const NO_RUN = 'run_not_found: There is no call with this trace id.';

/** Null where there is none, or none that the caller may see. */
export async function findRun(ask: AskApi, scope: ReadScope, traceId: string): Promise<FoundRun | null> {
  let run: WholeRun;
  try {
    run = await askJson(ask, Run, pathOf('/api/v1/run', { trace_id: traceId }));
  } catch (error) {
    if (error instanceof ToolError && error.message.startsWith('run_not_found')) return null;
    throw error;
  }
  const to = endOf(run);
  const found = { traceId: run.trace_id, from: run.started_at, to, whole: run };
  if (await isOwnRun(ask, scope, run)) return found;
  const { totals } = await readCosts(ask, scope, { from: found.from, to, limit: 1 }, [traceFilter(traceId)]);
  return totals.calls === 0 ? null : { ...found, whole: null };
}

/** The sums and its steps as rows of a tree, outermost first; the deepest are left out where there are more than `most`. */
export function describeRun(
  { steps, steps_cut: stepsCut, shape: _, shape_errors: __, ...sums }: WholeRun,
  most: number,
): object {
  const kept = steps.length <= most ? steps : keepOutermost(steps, most);
  const tree = kept.map(({ names, ...step }) => ({
    step: names.map(encodeName).join('/'),
    depth: names.length,
    ...step,
  }));
  const leftOut = steps.length - kept.length;
  return { ...sums, tree, ...(leftOut > 0 || stepsCut ? { steps_left_out: leftOut, steps_cut: stepsCut } : {}) };
}

function keepOutermost(steps: readonly z.infer<typeof Step>[], most: number): readonly z.infer<typeof Step>[] {
  const kept = new Set(steps.toSorted((a, b) => a.names.length - b.names.length).slice(0, most));
  return steps.filter((step) => kept.has(step));
}

function encodeName(name: string): string {
  return name.replaceAll('%', '%25').replaceAll('/', '%2F');
}
