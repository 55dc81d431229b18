/** Makes, renews and removes a login for SQL on the log. `docs/sql.md` says what it may read. */

import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { errorCode, INSUFFICIENT_PRIVILEGE } from '../store/database-error.ts';
import { makeSqlReader, removeSqlReader } from '../store/sql-reader.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer } from './schemas.ts';

const SqlAccessBody = z
  .object({
    role: z.string(),
    url: z
      .string()
      .describe('With the password; it is not shown again. Only for where the gateway reaches its database'),
  })
  .openapi('SqlAccess');

/** The database's address with the role as its user. */
function addressFor(databaseUrl: string, role: string, password: string): string {
  // The platform's parser puts no user before an absent host.
  const user = `${encodeURIComponent(role)}:${password}@`;
  return databaseUrl.replace(/^(postgres(?:ql)?:\/\/)(?:[^/?#@]*@)?/, (_all, scheme: string) => scheme + user);
}

function toAnswer(error: unknown): unknown {
  if (errorCode(error) !== INSUFFICIENT_PRIVILEGE) return error;
  return new ApiError(
    409,
    'role_forbidden',
    'The gateway’s user of the database may not create roles. Let an administrator do it: the statements are in docs/sql.md.',
    { cause: error },
  );
}

export function addSqlAccessRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const make = createRoute({
    method: 'post',
    path: '/api/v1/sql-access',
    summary: 'A login that may read the log by SQL, and nothing else; made again it has a new password',
    responses: {
      201: jsonAnswer(SqlAccessBody, 'How to connect'),
      409: errorAnswer('The gateway may not create roles in its database'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(make, async (c) => {
    try {
      const { role, password } = await makeSqlReader(requireDatabase(deps), accountOf(c));
      deps.log.info({ role }, 'a login for SQL was made, or given a new password');
      return c.json({ role, url: addressFor(deps.databaseUrl, role, password) }, 201);
    } catch (error) {
      throw toAnswer(error);
    }
  });

  const remove = createRoute({
    method: 'delete',
    path: '/api/v1/sql-access',
    summary: 'Remove that login, and end its sessions',
    responses: {
      200: jsonAnswer(z.object({ role: z.string() }), 'It is gone'),
      404: errorAnswer('There is none'),
      409: errorAnswer('The gateway may not remove roles of its database'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(remove, async (c) => {
    let role: string | null;
    try {
      role = await removeSqlReader(requireDatabase(deps), accountOf(c));
    } catch (error) {
      throw toAnswer(error);
    }
    if (role === null) throw new ApiError(404, 'not_found', 'There is no login for SQL.');
    deps.log.info({ role }, 'the login for SQL was removed');
    return c.json({ role }, 200);
  });
}
