/** One run as a tree. */
import { z } from 'zod';
import { ToolError } from './ask-api.ts';
import { describeRun, findRun, NO_RUN } from './find-run.ts';
import { traceFilter } from './own-run.ts';
import { readCosts } from './read-costs.ts';
import { defineTool } from './tool.ts';
import { TraceId } from './tool-inputs.ts';
import { showJson } from './tool-result.ts';

const MAX_GROUPS = 100;

export const getRun = defineTool({
  name: 'get_run',
  title: 'One run as a tree',
  description:
    'The steps of a run with what each cost: tree has a row a step, outermost first, where total_cost is of everything beneath the step and own_cost of the calls made directly in it. The empty step has the calls that are in no step. Its calls: list_calls with the filter trace_id:eq:ID.',
  input: z.strictObject({ trace_id: TraceId }),
  run: async ({ trace_id: traceId }, ask, scope) => {
    const found = await findRun(ask, scope, traceId);
    if (found === null) throw new ToolError(NO_RUN);
    if (found.whole !== null) return showJson(describeRun(found.whole));
    const { from, to } = found;
    const fields = { group_by: 'span_path', from, to, limit: MAX_GROUPS };
    const { totals, data, rest } = await readCosts(ask, scope, fields, [traceFilter(traceId)]);
    const steps = data.map(({ group: [step = null], ...sums }) => ({ step: step ?? '', ...sums }));
    return showJson({
      trace_id: traceId,
      note: 'The run has calls of other keys as well. These are the sums of yours, by the step in which each was made.',
      totals,
      steps,
      rest,
    });
  },
});
