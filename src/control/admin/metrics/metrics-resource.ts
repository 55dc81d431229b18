/** `/metrics` in Prometheus's text format: ours, and Node's of this process. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { AdminDeps } from '../admin-deps.ts';
import { METRICS_PATH } from '../guard.ts';
import { COMMON_ERRORS } from '../schemas.ts';
import { createMetricsText } from './metrics-text.ts';

export function addMetricsRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const readText = createMetricsText(deps);
  const metrics = createRoute({
    method: 'get',
    path: METRICS_PATH,
    summary: 'Metrics in the text format of Prometheus; with the admin token or TOLLGATE_METRICS_TOKEN',
    responses: {
      200: {
        description: 'As of now; also while the database is down',
        content: { 'text/plain': { schema: z.string() } },
      },
      ...COMMON_ERRORS,
    },
  });
  app.openapi(metrics, async (c) => {
    const { contentType, text } = await readText();
    return c.text(text, 200, { 'content-type': contentType });
  });
}
