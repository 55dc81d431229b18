/** Budgets over HTTP: what may be spent, and what is spent and reserved of it now. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import {
  BUDGET_PERIODS,
  BUDGET_RESERVES,
  BUDGET_SCOPES,
  type Budget,
  MAX_BUDGET_USD,
  RUN_BUDGET_ID,
  WHEN_UNKNOWN,
} from '../../budgets/budget.ts';
import { isTimeZone } from '../../budgets/budget-period.ts';
import { countedValue } from '../../budgets/claims.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import { deleteBudget, editBudget, findBudget, insertBudget, listBudgets } from '../budgets/budget-store.ts';
import type { BudgetUse, UsesOfBudget } from '../budgets/list-uses.ts';
import { isMetadataKey } from '../metadata/key-store.ts';
import { findFirstKey } from '../store/gateway-keys.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, limitParameter, listOf, Money, Time } from './schemas.ts';

const MAX_ID = 2_147_483_647;
/** Shown of each budget in the list. */
const USES_IN_LIST = 5;

const PlainText = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^\P{Cc}*$/u, 'without control characters');

const Amount = z
  .string()
  .refine((text) => readAmount(text) !== null, 'dollars as decimal text, above 0 and up to 1000000, such as "2.50"');

function readAmount(text: string): PicoUsd | null {
  try {
    const amount = parseUsd(text);
    return amount > 0n && amount <= MAX_BUDGET_USD ? amount : null;
  } catch {
    return null;
  }
}

const RESERVES =
  'What is set aside for a call: the most that it can cost, or what 99 of 100 calls of its key to its model do not exceed; then a call in a hundred may pass the budget';

const BudgetUseBody = z.object({
  value: z.string().describe('The run, key id, owner or metadata value; empty for the account'),
  limit_usd: Money,
  spent_usd: Money.describe('Settled; a call that was cut counts with all that it held'),
  reserved_usd: Money.describe('Held by open calls of the node that answers'),
  calls: z.number().int().describe('Stored calls'),
  forecast_usd: Money.nullable().describe('At the end of the period, at the present pace; null where none can be told'),
});

const BudgetBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    scope: z.enum(BUDGET_SCOPES),
    metadata_key: z.string().nullable(),
    value: z.string().nullable().describe('The one that it is for; null: each has the amount for itself'),
    amount_usd: Money,
    period: z.enum(BUDGET_PERIODS),
    time_zone: z.string(),
    hard: z.boolean().describe('False: calls beyond it are let through, with the flag over_budget'),
    reserves: z.enum(BUDGET_RESERVES).describe(RESERVES),
    when_unknown: z
      .enum(WHEN_UNKNOWN)
      .describe('What becomes of a call of which nothing says how much it may cost at most'),
    held_when_unknown_usd: Money.nullable(),
    contact: z.string().nullable().describe('Whom clients are told to ask for more'),
    created_at: Time,
    period_start: Time.nullable().describe('Null for once'),
    resets_at: Time.nullable().describe('Null for once'),
    uses: z.array(BudgetUseBody).describe('The most used first'),
  })
  .openapi('Budget');
type BudgetBody = z.infer<typeof BudgetBody>;

const RunBudgetBody = BudgetUseBody.openapi('RunBudget');

const Common = {
  name: PlainText.describe('Shown to clients when it refuses a call'),
  amount_usd: Amount,
  hard: z.boolean(),
  reserves: z.enum(BUDGET_RESERVES).describe(RESERVES),
  when_unknown: z.enum(WHEN_UNKNOWN),
  held_when_unknown_usd: Amount.describe('With `hold`: what is held for such a call'),
  contact: PlainText.describe('Whom clients are told to ask for more'),
};

const NewBody = z
  .strictObject({
    ...Common,
    scope: z.enum(BUDGET_SCOPES),
    metadata_key: z.string().refine(isMetadataKey, 'a metadata key').optional().describe('With the scope metadata'),
    value: PlainText.optional().describe('The one run, key id, owner or value; without it each has the amount'),
    period: z.enum(BUDGET_PERIODS),
    time_zone: z
      .string()
      .refine(isTimeZone, 'the name of a time zone, such as Europe/Berlin')
      .default('UTC')
      .describe('Where days, weeks and months begin'),
    hard: Common.hard.default(true),
    reserves: Common.reserves.default('greatest'),
    when_unknown: Common.when_unknown.default('refuse'),
    held_when_unknown_usd: Common.held_when_unknown_usd.optional(),
    contact: Common.contact.optional(),
  })
  .openapi('NewBudget');

const EditBody = z
  .strictObject({
    name: Common.name.optional(),
    amount_usd: Common.amount_usd.optional(),
    hard: Common.hard.optional(),
    reserves: Common.reserves.optional(),
    when_unknown: Common.when_unknown.optional(),
    held_when_unknown_usd: Common.held_when_unknown_usd.nullable().optional(),
    contact: Common.contact.nullable().optional(),
  })
  .openapi('BudgetEdit');

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(MAX_ID) });
const UsesQuery = z.strictObject({
  value: z.string().max(1_024).optional().describe('Only this run, key id, owner or metadata value'),
  limit: limitParameter(500, 50),
});

const ListQuery = z.strictObject({
  scope: z.enum(BUDGET_SCOPES).optional().describe('Only budgets of this scope'),
  value: z.string().max(1_024).optional().describe('Only what this run, key id, owner or metadata value has used'),
});

export const budgetsRoute = createRoute({
  method: 'get',
  path: '/api/v1/budgets',
  summary: 'The budgets, with what is spent and reserved of each now',
  request: { query: ListQuery },
  responses: { 200: jsonAnswer(listOf(BudgetBody), 'All in one page'), ...COMMON_ERRORS },
});

export const createBudgetRoute = createRoute({
  method: 'post',
  path: '/api/v1/budgets',
  summary: 'Make a budget; it counts from now on, in force within a second',
  request: { body: { required: true, content: { 'application/json': { schema: NewBody } } } },
  responses: { 201: jsonAnswer(BudgetBody, 'The budget'), ...COMMON_ERRORS },
});

const budgetRoute = createRoute({
  method: 'get',
  path: '/api/v1/budgets/{id}',
  summary: 'A budget, with what each run, key, person … has used of it',
  request: { params: IdParameter, query: UsesQuery },
  responses: {
    200: jsonAnswer(BudgetBody, 'The budget'),
    404: errorAnswer('No such budget'),
    ...COMMON_ERRORS,
  },
});

export const editBudgetRoute = createRoute({
  method: 'patch',
  path: '/api/v1/budgets/{id}',
  summary: 'Change a budget: raise it, lower it, make it soft',
  request: { params: IdParameter, body: { required: true, content: { 'application/json': { schema: EditBody } } } },
  responses: {
    200: jsonAnswer(BudgetBody, 'The budget as it is now'),
    404: errorAnswer('No such budget'),
    ...COMMON_ERRORS,
  },
});

export const deleteBudgetRoute = createRoute({
  method: 'delete',
  path: '/api/v1/budgets/{id}',
  summary: 'Delete a budget; what was spent of it stays in the database',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(BudgetBody, 'The budget, which refuses nothing any more'),
    404: errorAnswer('No such budget'),
    ...COMMON_ERRORS,
  },
});

const runBudgetsRoute = createRoute({
  method: 'get',
  path: '/api/v1/run-budgets',
  summary: 'The budgets that runs have set for themselves with X-Gateway-Budget-Usd',
  request: { query: UsesQuery },
  responses: { 200: jsonAnswer(listOf(RunBudgetBody), 'The most used first'), ...COMMON_ERRORS },
});

function formatUse(use: BudgetUse): z.infer<typeof BudgetUseBody> {
  return {
    value: use.value,
    limit_usd: formatUsd(use.limit),
    spent_usd: formatUsd(use.spent),
    reserved_usd: formatUsd(use.reserved),
    calls: use.calls,
    forecast_usd: use.forecast === null ? null : formatUsd(use.forecast),
  };
}

function formatBudget(budget: Budget, { period, uses }: UsesOfBudget): BudgetBody {
  const hasPeriod = period.endMs !== null;
  return {
    id: budget.id,
    name: budget.name,
    scope: budget.scope,
    metadata_key: budget.metadataKey,
    value: budget.value,
    amount_usd: formatUsd(budget.amount),
    period: budget.period,
    time_zone: budget.timeZone,
    hard: budget.isHard,
    reserves: budget.reserves,
    when_unknown: budget.whenUnknown,
    held_when_unknown_usd: budget.heldWhenUnknown === null ? null : formatUsd(budget.heldWhenUnknown),
    contact: budget.contact,
    created_at: new Date(budget.createdAtMs).toISOString(),
    period_start: hasPeriod ? new Date(period.startMs).toISOString() : null,
    resets_at: period.endMs === null ? null : new Date(period.endMs).toISOString(),
    uses: uses.map(formatUse),
  };
}

function requireHeld(whenUnknown: string, held: string | null | undefined): void {
  if ((whenUnknown === 'hold') !== (held != null))
    throw new ApiError(
      400,
      'invalid_request',
      '`held_when_unknown_usd` goes with `when_unknown: "hold"`, and only so.',
    );
}

const KEY_ID = /^[1-9]\d{0,8}$/;

/** A budget of a key is one of all that rotations have made of it (null: there is no such key), and long metadata is shortened. */
async function sharedValue(
  pool: ReturnType<typeof requireDatabase>,
  accountId: number,
  scope: string | undefined,
  value: string | undefined,
): Promise<string | null | undefined> {
  if (value === undefined) return value;
  if (scope === 'metadata') return countedValue(value);
  if (scope !== 'key') return value;
  const first = KEY_ID.test(value) ? await findFirstKey(pool, accountId, Number(value)) : null;
  return first === null ? null : String(first);
}

function notFound(): ApiError {
  return new ApiError(404, 'not_found', 'There is no budget with this id.');
}

export function addBudgetRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const usesOf = (budget: Parameters<typeof deps.budgets.listUses>[0], most: number, value?: string) =>
    deps.budgets.listUses(budget, { most, ...(value === undefined ? {} : { value }) });

  app.openapi(budgetsRoute, async (c) => {
    const { scope, value: asked } = c.req.valid('query');
    const pool = requireDatabase(deps);
    const value = (await sharedValue(pool, accountOf(c), scope, asked)) ?? asked;
    const all = await listBudgets(pool, accountOf(c));
    const isOf = (budget: Budget) =>
      (scope === undefined || budget.scope === scope) &&
      (value === undefined || budget.value === null || budget.value === value);
    const budgets = all.filter(isOf);
    const data = await Promise.all(
      budgets.map(async (budget) => formatBudget(budget, await usesOf(budget, USES_IN_LIST, value))),
    );
    return c.json({ data, next_cursor: null }, 200);
  });

  app.openapi(createBudgetRoute, async (c) => {
    const body = c.req.valid('json');
    requireHeld(body.when_unknown, body.held_when_unknown_usd);
    if ((body.scope === 'metadata') !== (body.metadata_key !== undefined))
      throw new ApiError(400, 'invalid_request', '`metadata_key` goes with the scope metadata, and only so.');
    if (body.scope === 'account' && body.value !== undefined)
      throw new ApiError(400, 'invalid_request', 'A budget of the account has no `value`.');
    const pool = requireDatabase(deps);
    const value = await sharedValue(pool, accountOf(c), body.scope, body.value);
    if (value === null)
      throw new ApiError(
        400,
        'invalid_request',
        '`value` is not the id of a gateway key; `GET /api/v1/keys` lists them.',
      );
    const budget = await insertBudget(pool, {
      accountId: accountOf(c),
      name: body.name,
      scope: body.scope,
      metadataKey: body.metadata_key ?? null,
      value: value ?? null,
      amount: parseUsd(body.amount_usd),
      period: body.period,
      timeZone: body.time_zone,
      isHard: body.hard,
      reserves: body.reserves,
      whenUnknown: body.when_unknown,
      heldWhenUnknown: body.held_when_unknown_usd === undefined ? null : parseUsd(body.held_when_unknown_usd),
      contact: body.contact ?? null,
    });
    await deps.budgets.publish();
    return c.json(formatBudget(budget, await usesOf(budget, USES_IN_LIST)), 201);
  });

  app.openapi(budgetRoute, async (c) => {
    const { value: asked, limit } = c.req.valid('query');
    const pool = requireDatabase(deps);
    const budget = await findBudget(pool, accountOf(c), c.req.valid('param').id);
    if (budget === null) throw notFound();
    const value = (await sharedValue(pool, accountOf(c), budget.scope, asked)) ?? asked;
    return c.json(formatBudget(budget, await usesOf(budget, limit, value)), 200);
  });

  app.openapi(editBudgetRoute, async (c) => {
    const body = c.req.valid('json');
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    const before = await findBudget(pool, accountOf(c), id);
    if (before === null) throw notFound();
    const whenUnknown = body.when_unknown ?? before.whenUnknown;
    const heldBefore = before.heldWhenUnknown === null ? null : formatUsd(before.heldWhenUnknown);
    const held =
      body.held_when_unknown_usd === undefined && whenUnknown === 'hold' ? heldBefore : body.held_when_unknown_usd;
    requireHeld(whenUnknown, held);
    const budget = await editBudget(pool, accountOf(c), id, {
      name: body.name,
      amount: body.amount_usd === undefined ? undefined : parseUsd(body.amount_usd),
      isHard: body.hard,
      reserves: body.reserves,
      whenUnknown,
      heldWhenUnknown: held == null ? null : parseUsd(held),
      contact: body.contact,
    });
    if (budget === null) throw notFound();
    await deps.budgets.publish();
    return c.json(formatBudget(budget, await usesOf(budget, USES_IN_LIST)), 200);
  });

  app.openapi(deleteBudgetRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    const budget = await findBudget(pool, accountOf(c), id);
    if (budget === null || !(await deleteBudget(pool, accountOf(c), id))) throw notFound();
    await deps.budgets.publish();
    return c.json(formatBudget(budget, await usesOf(budget, USES_IN_LIST)), 200);
  });

  app.openapi(runBudgetsRoute, async (c) => {
    const { value, limit } = c.req.valid('query');
    requireDatabase(deps);
    const { uses } = await usesOf({ accountId: accountOf(c), id: RUN_BUDGET_ID }, limit, value);
    return c.json({ data: uses.map(formatUse), next_cursor: null }, 200);
  });
}
