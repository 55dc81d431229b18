/** Refuses parameters of routes without any, so that a mistyped filter does not answer another question. */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';

/** Reads the routes at the first request, when all are registered. */
export function refuseUnknownQuery(app: OpenAPIHono): MiddlewareHandler {
  let routes: readonly RoutePattern[] | null = null;
  return async (c, next) => {
    const [name] = new URL(c.req.url).searchParams.keys();
    // A health check may add anything against caches.
    if (name === undefined || !c.req.path.startsWith('/api/')) return next();
    routes ??= listRoutes(app);
    const line = `${c.req.method === 'HEAD' ? 'GET' : c.req.method} ${c.req.path}`;
    const matching = routes.filter(({ pattern }) => pattern.test(line));
    // `/logs/stream` also matches `/logs/{id}`; the route with parameters is the one meant.
    if (matching.length > 0 && !matching.some(({ hasParameters }) => hasParameters))
      throw new ApiError(400, 'invalid_request', `${name.slice(0, 100)}: this route has no parameters.`);
    return next();
  };
}

interface RoutePattern {
  readonly pattern: RegExp;
  readonly hasParameters: boolean;
}

function listRoutes(app: OpenAPIHono): readonly RoutePattern[] {
  const routes = app.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? [one.route] : []));
  return routes.map(({ method, path, request }) => {
    const parts = path.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'));
    return {
      pattern: new RegExp(`^${method.toUpperCase()} ${parts.join('[^/]+')}$`),
      hasParameters: request?.query !== undefined,
    };
  });
}
