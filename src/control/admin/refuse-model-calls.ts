/** Tells clients whose base address has the wrong port so; an answer of this API would make them retry for minutes. */
import type { MiddlewareHandler } from 'hono';
import { v7 as createUuid } from 'uuid';
import { findKnownCall } from '../../providers/registry.ts';
import { nameRefusal, writeRefusalBody } from '../../vocabulary/refusal-body.ts';
import { isPagePath } from './serve-dashboard.ts';

const STATUS = 404;
const CODE = 'admin_port';
/** Below them nothing is a provider's. */
const OWN_ROOTS = /^\/(?:api|assets|healthz|readyz|metrics|mcp)(?:\/|$)/;

/** `baseUrl`: where the proxy listens. Comes before the check of credentials, as these clients have another kind. */
export function refuseModelCalls(baseUrl: string): MiddlewareHandler {
  const message = `This is the gateway’s admin port, for its dashboard and API. Model calls go to its proxy: set the base address to ${baseUrl}, or ${baseUrl}/v1 for OpenAI-style clients.`;
  return async (c, next) => {
    const { method, path } = c.req;
    if (OWN_ROOTS.test(path) || isPagePath(path)) return next();
    const query = new URL(c.req.url).search.slice(1);
    const provider = findKnownCall({ method, path, query, header: (name) => c.req.header(name) });
    if (provider === null) return next();
    const id = createUuid();
    const isNumeric = provider.hasNumericErrors?.(path) === true;
    return c.body(writeRefusalBody({ status: STATUS, code: CODE, message }, id, isNumeric), STATUS, {
      'content-type': 'application/json',
      'x-should-retry': 'false',
      'x-gateway-error': CODE,
      'x-request-id': id,
      'request-id': id,
      'x-amzn-requestid': id,
      'x-amzn-errortype': nameRefusal(STATUS).exception,
    });
  };
}
