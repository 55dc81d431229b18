/** What calls cost, by anything. */
import { z } from 'zod';
import { readCosts } from './read-costs.ts';
import { defineTool } from './tool.ts';
import { Filters, From, To } from './tool-inputs.ts';
import { showJson } from './tool-result.ts';

const INTERVALS = ['none', 'hour', 'day', 'week', 'month', 'auto'] as const;

export const getCosts = defineTool({
  name: 'get_costs',
  title: 'Costs by anything',
  description:
    'What calls cost in US dollars, as exact decimal text, by one or two dimensions and by time. totals is of all calls; data has the most expensive groups, rest all others as one. While unpriced_calls is not 0, total_cost means at least. Where searched_to is not null, the answer is of the calls since that time only: narrow the window, or ask again with it as to.',
  input: z.strictObject({
    group_by: z
      .string()
      .max(1_024)
      .default('model')
      .describe(
        'One or two, with a comma: model, provider, key, endpoint, outcome, span_path, span_name, trace_id, client, metadata.Key',
      ),
    interval: z.enum(INTERVALS).default('none').describe('Width of the buckets of time'),
    tz: z.string().max(64).default('UTC').describe('Zone by whose clocks days are cut, such as Europe/Berlin'),
    from: From,
    to: To,
    filters: Filters,
    limit: z.number().int().min(1).max(50).default(20).describe('Groups that are told apart, at most 50'),
  }),
  run: async ({ filters, ...fields }, ask, scope) => showJson(await readCosts(ask, scope, fields, filters)),
});
