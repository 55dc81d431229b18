/** One run as a tree. */
import { z } from 'zod';
import { ToolError } from './ask-api.ts';
import { describeRun, findRun, NO_RUN } from './find-run.ts';
import { traceFilter } from './own-run.ts';
import { readCosts } from './read-costs.ts';
import { defineTool } from './tool.ts';
import { TraceId } from './tool-inputs.ts';
import { showFitting } from './tool-result.ts';

const MAX_STEPS = 200;
const MAX_GROUPS = 100;
/** Steps are at hand, so that many sizes may be tried. */
const KEPT_STEPS = 0.9;

export const getRun = defineTool({
  name: 'get_run',
  title: 'One run as a tree',
  description:
    'The steps of a run with what each cost: tree has a row a step, outermost first, where total_cost is of everything beneath the step and own_cost of the calls made directly in it. The empty step has the calls that are in no step. Its calls: list_calls with the filter trace_id:eq:ID.',
  input: z.strictObject({ trace_id: TraceId }),
  run: async ({ trace_id: traceId }, ask, scope) => {
    const found = await findRun(ask, scope, traceId);
    if (found === null) throw new ToolError(NO_RUN);
    const { whole, from, to } = found;
    if (whole !== null) return showFitting(MAX_STEPS, (most) => describeRun(whole, most), KEPT_STEPS);
    return showFitting(MAX_GROUPS, async (limit) => {
      const fields = { group_by: 'span_path', from, to, limit };
      const { totals, data, rest } = await readCosts(ask, scope, fields, [traceFilter(traceId)]);
      const steps = data.map(({ group: [step = null], ...sums }) => ({ step: step ?? '', ...sums }));
      return {
        trace_id: traceId,
        note: 'The run has calls of other keys as well. These are the sums of yours, by the step in which each was made.',
        totals,
        steps,
        rest,
      };
    });
  },
});
