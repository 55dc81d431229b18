/** Demo data over HTTP: its state, loading and removal. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { COMMON_ERRORS, jsonAnswer } from './schemas.ts';

const DemoDataBody = z
  .object({ loaded: z.boolean(), calls: z.number().int().describe('Calls of demo data in the log') })
  .openapi('DemoData');

const LoadedBody = z.object({ loaded: z.number().int().describe('Calls added; 0 when they are there already') });
const RemovedBody = z.object({ removed: z.number().int().describe('Calls taken out of the log') });

const PATH = '/api/v1/demo-data';

export const demoDataRoute = createRoute({
  method: 'get',
  path: PATH,
  summary: 'Whether demo data is loaded',
  responses: { 200: jsonAnswer(DemoDataBody, 'As of now'), ...COMMON_ERRORS },
});

export const loadDemoDataRoute = createRoute({
  method: 'post',
  path: PATH,
  summary: 'Load demo data: runs and calls of the last two days, marked Environment: demo; loading again adds nothing',
  responses: { 200: jsonAnswer(LoadedBody, 'It is in the log'), ...COMMON_ERRORS },
});

export const removeDemoDataRoute = createRoute({
  method: 'delete',
  path: PATH,
  summary: 'Take all demo data out again, with its bodies, its share of every sum, and its key',
  responses: { 200: jsonAnswer(RemovedBody, 'None of it is left'), ...COMMON_ERRORS },
});

export function addDemoDataRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(demoDataRoute, async (c) => {
    requireDatabase(deps);
    const calls = await deps.demoData.countCalls();
    return c.json({ loaded: calls > 0, calls }, 200);
  });

  app.openapi(loadDemoDataRoute, async (c) => {
    requireDatabase(deps);
    return c.json({ loaded: await deps.demoData.load() }, 200);
  });

  app.openapi(removeDemoDataRoute, async (c) => {
    requireDatabase(deps);
    return c.json({ removed: await deps.demoData.remove() }, 200);
  });
}
