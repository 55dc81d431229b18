/** Accounts over HTTP: the operator makes them; everyone sees those that they may use. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type pg from 'pg';
import { changeAccountRetention, type RetentionDays, readAccountRetention } from '../store/account-retention.ts';
import { insertAccount, listAccounts, MAX_ACCOUNTS, readAccount, renameAccount } from '../store/accounts.ts';
import { readPerson } from '../store/people.ts';
import { readSharedSettings } from '../store/shared-settings.ts';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError, databaseUnavailable } from './api-error.ts';
import { requireWholeDatabase } from './behind-wall.ts';
import { type Principal, principalOf, ROLES } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, NameField, Time } from './schemas.ts';

const MAX_ID = 2_147_483_647;
const NO_ACCOUNT = new ApiError(404, 'account_not_found', 'There is no account with this number.');

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

const RetentionBody = z
  .object({
    retention_rows: z.number().int().nullable().describe('Days that calls are kept; null: as the gateway does'),
    retention_bodies: z
      .number()
      .int()
      .nullable()
      .describe('Days that bodies and texts are kept; null: as the gateway does'),
    gateway_rows: z.number().int().describe('Days that the gateway keeps calls, which is the most'),
    gateway_bodies: z.number().int().describe('Days that it keeps bodies'),
  })
  .openapi('AccountRetention');

const MAX_DAYS = 36_500;
const Days = z.number().int().min(1).max(MAX_DAYS).nullable();
const NewRetentionBody = z.strictObject({ retention_rows: Days, retention_bodies: Days });

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

export const accountRetentionRoute = createRoute({
  method: 'get',
  path: '/api/v1/accounts/{id}/retention',
  summary: 'How long an account keeps its calls and bodies, where it keeps less than the gateway; for its owners',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(RetentionBody, 'Its own limits'),
    404: errorAnswer('No such account'),
    ...COMMON_ERRORS,
  },
});

export const setAccountRetentionRoute = createRoute({
  method: 'put',
  path: '/api/v1/accounts/{id}/retention',
  summary: 'Let an account keep its calls and bodies for fewer days than the gateway does; for its owners',
  description: 'It counts at the next hourly turn of retention. What it deletes does not come back.',
  request: {
    params: IdParameter,
    body: { required: true, content: { 'application/json': { schema: NewRetentionBody } } },
  },
  responses: {
    200: jsonAnswer(RetentionBody, 'Its own limits'),
    404: errorAnswer('No such account'),
    409: errorAnswer('It would keep more than the gateway does'),
    ...COMMON_ERRORS,
  },
});

type GatewayDays = Readonly<Record<'rowsDays' | 'bodiesDays', number>>;

async function readGatewayDays(pool: pg.Pool): Promise<GatewayDays> {
  const shared = await readSharedSettings(pool);
  if (shared === null) throw databaseUnavailable();
  return { rowsDays: Number(shared.retention_rows.value), bodiesDays: Number(shared.retention_bodies.value) };
}

function formatRetention(own: RetentionDays, gateway: GatewayDays): z.infer<typeof RetentionBody> {
  return {
    retention_rows: own.rowsDays,
    retention_bodies: own.bodiesDays,
    gateway_rows: gateway.rowsDays,
    gateway_bodies: gateway.bodiesDays,
  };
}

/** An owner's own account; the operator names any. */
function requireOwnAccount(c: Context, id: number): void {
  const principal = principalOf(c);
  if (principal.kind !== 'operator' && principal.accountId !== id) throw NO_ACCOUNT;
}

/** Days are partitions that all accounts share, so none outlives the gateway's limit. */
function refuseLonger({ rowsDays, bodiesDays }: RetentionDays, gateway: GatewayDays): void {
  for (const [name, days, most] of [
    ['retention_rows', rowsDays, gateway.rowsDays],
    ['retention_bodies', bodiesDays, gateway.bodiesDays],
  ] as const) {
    if (days !== null && days > most)
      throw new ApiError(
        409,
        'retention_too_long',
        `The gateway keeps them for ${most} days. For more, raise that with \`tollgate settings set ${name} ${days}\` and give the other accounts limits of their own.`,
      );
  }
}

export function addAccountRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(accountsRoute, async (c: Context) =>
    c.json({ data: await listUsable(deps, principalOf(c)), next_cursor: null }, 200),
  );

  app.openapi(createAccountRoute, async (c) => {
    const account = await insertAccount(requireWholeDatabase(deps), c.req.valid('json').name);
    if (account === null) throw new ApiError(409, 'accounts_full', `There are ${MAX_ACCOUNTS} accounts already.`);
    return c.json(formatAccount(account), 201);
  });

  app.openapi(accountRetentionRoute, async (c) => {
    const { id } = c.req.valid('param');
    requireOwnAccount(c, id);
    const pool = requireWholeDatabase(deps);
    const retention = await readAccountRetention(pool, id);
    if (retention === null) throw NO_ACCOUNT;
    return c.json(formatRetention(retention, await readGatewayDays(pool)), 200);
  });

  app.openapi(setAccountRetentionRoute, async (c) => {
    const { retention_rows: rowsDays, retention_bodies: bodiesDays } = c.req.valid('json');
    const { id } = c.req.valid('param');
    requireOwnAccount(c, id);
    const pool = requireWholeDatabase(deps);
    const gateway = await readGatewayDays(pool);
    refuseLonger({ rowsDays, bodiesDays }, gateway);
    const retention = await changeAccountRetention(pool, id, { rowsDays, bodiesDays });
    if (retention === null) throw NO_ACCOUNT;
    return c.json(formatRetention(retention, gateway), 200);
  });

  app.openapi(renameAccountRoute, async (c) => {
    const account = await renameAccount(requireWholeDatabase(deps), c.req.valid('param').id, c.req.valid('json').name);
    if (account === null) throw NO_ACCOUNT;
    return c.json(formatAccount(account), 200);
  });
}
