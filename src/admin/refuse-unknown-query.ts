/**
 * A parameter that a route does not have is refused, and not passed over: a filter with a slip of the pen would
 * otherwise answer a question that nobody asked. Routes that have parameters check them by their own schema; here are
 * those that have none.
 */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';

/** Looks the routes up at the first request, when all of them are there. */
export function refuseUnknownQuery(app: OpenAPIHono): MiddlewareHandler {
  let routes: readonly RoutePattern[] | null = null;
  return async (c, next) => {
    const [name] = new URL(c.req.url).searchParams.keys();
    // Who looks at the health may have added anything, against caches.
    if (name === undefined || !c.req.path.startsWith('/api/')) return next();
    routes ??= listRoutes(app);
    const line = `${c.req.method === 'HEAD' ? 'GET' : c.req.method} ${c.req.path}`;
    const matching = routes.filter(({ pattern }) => pattern.test(line));
    // `/logs/stream` looks like `/logs/{id}` as well: one that has parameters is the one that is meant.
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
