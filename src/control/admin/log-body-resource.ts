/** A call's bodies over HTTP, as on the wire or decoded, never as a page. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { isUuid } from '../../vocabulary/uuid.ts';
import { decodeBody, MAX_DECODED_BODY_BYTES } from '../log/decode-body.ts';
import { readBody, type StoredBody } from '../log/read-body.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { IdParameter, LOG_NOT_FOUND } from './logs-resource.ts';
import { parseQuery } from './parse-query.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, errorAnswer } from './schemas.ts';

const Query = z.strictObject({
  decoded: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true` undoes the content encoding (gzip, deflate, br, zstd); at most 20 MB come out'),
});

async function serveBody(
  body: StoredBody,
  isDecoded: boolean,
): Promise<{ bytes: Buffer; headers: Record<string, string> }> {
  if (!isDecoded) return { bytes: body.bytes, headers: {} };
  const decoded = await decodeBody(body);
  if (decoded.kind === 'undecodable')
    throw new ApiError(409, 'body_not_decodable', 'This body is not encoded as it says; ask for it without `decoded`.');
  const { bytes, cutBytes, isOverLimit } = decoded;
  return {
    bytes,
    headers: {
      ...(cutBytes > 0 ? { 'x-tollgate-cut': String(cutBytes) } : {}),
      ...(isOverLimit ? { 'x-tollgate-decoded-limit': String(MAX_DECODED_BODY_BYTES) } : {}),
    },
  };
}

function addBodyRoute(app: OpenAPIHono, deps: AdminDeps, direction: 'request' | 'response'): void {
  const body = createRoute({
    method: 'get',
    path: `/api/v1/logs/{id}/${direction}`,
    summary: `The body of the ${direction}, as it went over the wire or decoded`,
    request: { params: IdParameter, query: Query },
    responses: {
      200: {
        description:
          'The bytes. `bodies` of the call says type, encoding and whether the middle was cut out; whatever the type is, they are served as plain text to be saved. Decoded, `x-tollgate-cut` counts the bytes (as they went over the wire) that are missing: the middle, or of an encoded body all that follows; `x-tollgate-decoded-limit` says that there was more than it',
        content: { 'text/plain': { schema: z.string() } },
      },
      404: errorAnswer('No such call, or its body was not kept'),
      409: errorAnswer('The body cannot be decoded'),
      ...COMMON_ERRORS,
    },
  });
  // Typed handlers return text, so the path is documented and served apart.
  app.openAPIRegistry.registerPath(body);
  app.get(`/api/v1/logs/:id/${direction}`, async (c) => {
    const id = c.req.param('id');
    const { decoded } = parseQuery(c.req.url, Query);
    if (!isUuid(id)) throw LOG_NOT_FOUND;
    const stored = await readBody(requireDatabase(deps), accountOf(c), id, direction);
    if (stored === null)
      throw new ApiError(
        404,
        'body_not_found',
        'There is no such call, or this body was not kept (setting, key or retention).',
      );
    const { bytes, headers } = await serveBody(stored, decoded === 'true');
    return c.body(new Uint8Array(bytes), 200, {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${id}-${direction}.txt"`,
      ...headers,
    });
  });
}

export function addLogBodyRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  addBodyRoute(app, deps, 'request');
  addBodyRoute(app, deps, 'response');
}
