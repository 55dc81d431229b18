/** What a run or a session of an agent cost, and why: the question of an agent about itself. */
import { z } from 'zod';
import { parseUsd } from '../../vocabulary/usd.ts';
import { type AskApi, askJson, filterValue, pathOf, type ReadScope, scopedFilters, ToolError } from './ask-api.ts';
import { findRun } from './find-run.ts';
import { traceFilter } from './own-run.ts';
import { type CostGroup, type CostSums, readCosts } from './read-costs.ts';
import { defineTool } from './tool.ts';
import { showJson } from './tool-result.ts';

const TOP_GROUPS = 10;
const TOP_CALLS = 5;

const CALL_COLUMNS =
  'id,requested_at,model,span_path,span_name,total_cost,input_tokens,cache_read_input_tokens,output_tokens,outcome';
const Calls = z.object({ data: z.array(z.object({}).loose()) });
const Times = z.object({ data: z.array(z.object({ requested_at: z.string() })) });
const Runs = z.object({ data: z.array(z.object({ trace_id: z.string() })) });

interface Subject {
  readonly what: Readonly<Record<string, string>>;
  readonly filter: string;
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
}

async function findSubject(ask: AskApi, scope: ReadScope, id: string): Promise<Subject | null> {
  const run = await findRun(ask, scope, id);
  if (run !== null) return { what: { trace_id: id }, filter: traceFilter(id), from: run.from, to: run.to };
  const session = await findSession(ask, scope, id);
  if (session !== null) return session;
  // A run of an agent's own session has a trace id that ends with the id of the session.
  // The search looks into names of other keys' calls too; the filter leaves what the trace id has.
  const named = [`trace_id:contains:${filterValue(id)}`];
  const { data } = await askJson(ask, Runs, pathOf('/api/v1/runs', { q: id, limit: 10 }, scopedFilters(scope, named)));
  const ends = data.filter(({ trace_id: traceId }) => traceId.endsWith(`:${id}`));
  const [only] = ends;
  return only === undefined || ends.length > 1 ? null : findSubject(ask, scope, only.trace_id);
}

/** Calls of an agent's session that are in no run of that id; the window spares the rest of the log. */
async function findSession(ask: AskApi, scope: ReadScope, id: string): Promise<Subject | null> {
  const filter = `agent_session:eq:${filterValue(id)}`;
  const readFirst = async (sort: string): Promise<string | undefined> => {
    const fields = { sort, limit: 1, fields: 'requested_at' };
    const { data } = await askJson(ask, Times, pathOf('/api/v1/logs', fields, scopedFilters(scope, [filter])));
    return data[0]?.requested_at;
  };
  const newest = await readFirst('-requested_at');
  const oldest = newest === undefined ? undefined : await readFirst('requested_at');
  if (newest === undefined || oldest === undefined) return null;
  return { what: { agent_session: id }, filter, from: oldest, to: new Date(Date.parse(newest) + 1).toISOString() };
}

/** A share in whole percent; null of nothing. */
function percentOf(part: bigint, whole: bigint): number | null {
  return whole <= 0n ? null : Number((part * 100n) / whole);
}

function listReasons(totals: CostSums, byModel: readonly CostGroup[], byStep: readonly CostGroup[]): string[] {
  const whole = parseUsd(totals.total_cost);
  const say = (kind: string, [first]: readonly CostGroup[]): string[] => {
    const share = first === undefined ? null : percentOf(parseUsd(first.total_cost), whole);
    const name = first?.group[0] ?? `no ${kind}`;
    return first === undefined || share === null
      ? []
      : [
          `${share} % of it is the ${kind} ${name}: $${first.total_cost} for ${first.calls} ${first.calls === 1 ? 'call' : 'calls'}.`,
        ];
  };
  const prompt = totals.input_tokens + totals.cache_read_input_tokens + totals.cache_creation_input_tokens;
  const cached = percentOf(BigInt(totals.cache_read_input_tokens), BigInt(prompt));
  return [
    ...say('model', byModel),
    ...say('step', byStep),
    ...(cached === null
      ? []
      : [
          `${cached} % of ${prompt} prompt tokens were read from the cache; ${totals.output_tokens} tokens were written.`,
        ]),
    ...(totals.errors > 0 ? [`${totals.errors} of ${totals.calls} calls failed.`] : []),
    ...(totals.unpriced_calls > 0
      ? [`The cost of ${totals.unpriced_calls} calls is not wholly known, so the sum means at least.`]
      : []),
  ];
}

export const explainCost = defineTool({
  name: 'explain_cost',
  title: 'What a run or session cost, and why',
  description:
    'Give the id of a run (its trace id) or of an agent’s own session, and it says what it cost in US dollars as exact decimal text, by model and by step, its most expensive calls, and the reasons in sentences. An agent asks it about itself.',
  input: z.strictObject({ id: z.string().min(1).max(512).describe('A trace id, or the id of an agent’s session') }),
  run: async ({ id }, ask, scope) => {
    const subject = await findSubject(ask, scope, id);
    if (subject === null)
      throw new ToolError(
        'run_not_found: No run and no session of an agent has this id. list_runs shows what there is; calls are in a run when they send X-Gateway-Trace-Id.',
      );
    const { what, filter, from, to } = subject;
    const costs = (by: string) => readCosts(ask, scope, { group_by: by, from, to, limit: TOP_GROUPS }, [filter]);
    const byModel = await costs('model');
    const byStep = await costs('span_path');
    const fields = { from, to, sort: '-total_cost', limit: TOP_CALLS, fields: CALL_COLUMNS };
    const calls = await askJson(ask, Calls, pathOf('/api/v1/logs', fields, scopedFilters(scope, [filter])));
    const { totals, searched_to: searchedTo } = byModel;
    return showJson({
      ...what,
      totals,
      reasons: listReasons(totals, byModel.data, byStep.data),
      by_model: byModel.data,
      by_step: byStep.data,
      most_expensive_calls: calls.data,
      searched_to: searchedTo,
    });
  },
});
