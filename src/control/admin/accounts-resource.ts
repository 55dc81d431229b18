/** Accounts over HTTP: the operator makes them; everyone sees those that they may use. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { insertAccount, listAccounts, MAX_ACCOUNTS, readAccount, renameAccount } from '../store/accounts.ts';
import { readPerson } from '../store/people.ts';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { requireWholeDatabase } from './behind-wall.ts';
import { type Principal, principalOf, ROLES } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, NameField, Time } from './schemas.ts';

const MAX_ID = 2_147_483_647;

export const AccountBody = z
  .object({ id: z.number().int().describe('As in X-Tollgate-Account'), name: z.string(), created_at: Time })
  .openapi('Account');

const UsableAccountBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    role: z.enum(ROLES).describe('Of the asker, there'),
  })
  .openapi('UsableAccount');

const NewBody = z.strictObject({ name: NameField });
const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(MAX_ID) });

function formatAccount({ id, name, createdAt }: { id: number; name: string; createdAt: Date }) {
  return { id, name, created_at: createdAt.toISOString() };
}

/** In order of their number. */
export async function listUsable(deps: AdminDeps, principal: Principal) {
  const pool = requireWholeDatabase(deps);
  if (principal.kind === 'operator')
    return (await listAccounts(pool)).map(({ id, name }) => ({ id, name, role: 'owner' as const }));
  if (principal.kind === 'person' && principal.id !== null) {
    const person = await readPerson(pool, principal.id);
    return (person?.memberships ?? []).map(({ accountId, accountName, role }) => ({
      id: accountId,
      name: accountName,
      role,
    }));
  }
  const own = await readAccount(pool, principal.accountId);
  return own === null ? [] : [{ id: own.id, name: own.name, role: principal.role }];
}

export const accountsRoute = createRoute({
  method: 'get',
  path: '/api/v1/accounts',
  summary: 'The accounts that the asker may use; the operator may use all',
  responses: { 200: jsonAnswer(listOf(UsableAccountBody), 'All in one page, at most 1,000'), ...COMMON_ERRORS },
});

const createAccountRoute = createRoute({
  method: 'post',
  path: '/api/v1/accounts',
  summary: 'Make an account, which shares nothing with the others; for the operator',
  request: { body: { required: true, content: { 'application/json': { schema: NewBody } } } },
  responses: {
    201: jsonAnswer(AccountBody, 'The account, without people and keys'),
    409: errorAnswer('There are too many'),
    ...COMMON_ERRORS,
  },
});

const renameAccountRoute = createRoute({
  method: 'patch',
  path: '/api/v1/accounts/{id}',
  summary: 'Rename an account; for the operator',
  request: {
    params: IdParameter,
    body: { required: true, content: { 'application/json': { schema: NewBody } } },
  },
  responses: { 200: jsonAnswer(AccountBody, 'The account'), 404: errorAnswer('No such account'), ...COMMON_ERRORS },
});

export function addAccountRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(accountsRoute, async (c: Context) =>
    c.json({ data: await listUsable(deps, principalOf(c)), next_cursor: null }, 200),
  );

  app.openapi(createAccountRoute, async (c) => {
    const account = await insertAccount(requireWholeDatabase(deps), c.req.valid('json').name);
    if (account === null) throw new ApiError(409, 'accounts_full', `There are ${MAX_ACCOUNTS} accounts already.`);
    return c.json(formatAccount(account), 201);
  });

  app.openapi(renameAccountRoute, async (c) => {
    const account = await renameAccount(requireWholeDatabase(deps), c.req.valid('param').id, c.req.valid('json').name);
    if (account === null) throw new ApiError(404, 'account_not_found', 'There is no account with this number.');
    return c.json(formatAccount(account), 200);
  });
}
