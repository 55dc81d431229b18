/** What is open now. */
import { z } from 'zod';
import { askJson, pathOf, scopedFilters } from './ask-api.ts';
import { defineTool } from './tool.ts';
import { Filters, Limit } from './tool-inputs.ts';
import { showFitting } from './tool-result.ts';

const Open = z.object({ data: z.array(z.unknown()), total: z.number() });

export const listOpenCalls = defineTool({
  name: 'list_open_calls',
  title: 'Calls that are open now',
  description: 'Calls that have begun and not ended, the newest first; total counts all that match.',
  input: z.strictObject({ filters: Filters, limit: Limit }),
  run: ({ filters, limit }, ask, scope) =>
    showFitting(limit, (rows) =>
      askJson(ask, Open, pathOf('/api/v1/logs/open', { limit: rows }, scopedFilters(scope, filters))),
    ),
});
