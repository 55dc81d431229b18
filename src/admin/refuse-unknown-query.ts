/**
 * A parameter that a route does not have is refused, and not passed over: a filter with a slip of the pen would otherwise
 * answer a question that nobody asked. Routes that have parameters check them by their own schema; here are those that
 * have none.
 */
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { ApiError } from './api-error.ts';

/** Looks the routes up at the first request, when all of them are there. */
export function refuseUnknownQuery(app: OpenAPIHono): MiddlewareHandler {
  let patterns: readonly RegExp[] | null = null;
  return async (c, next) => {
    const [name] = new URL(c.req.url).searchParams.keys();
    if (name === undefined) return next();
    patterns ??= listWithoutQuery(app);
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method;
    const line = `${method} ${c.req.path}`;
    if (patterns.some((pattern) => pattern.test(line)))
      throw new ApiError(400, 'invalid_request', `${name.slice(0, 100)}: this route has no parameters.`);
    return next();
  };
}

function listWithoutQuery(app: OpenAPIHono): readonly RegExp[] {
  const routes = app.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? [one.route] : []));
  return routes
    .filter(({ request }) => request?.query === undefined)
    .map(({ method, path }) => {
      const parts = path.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'));
      return new RegExp(`^${method.toUpperCase()} ${parts.join('[^/]+')}$`);
    });
}
