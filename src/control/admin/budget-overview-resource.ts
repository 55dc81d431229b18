/** What the operator sees of budgets in all accounts: what is near its end, which nodes hold money; and ends what a lost one holds. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { formatUsd } from '../../vocabulary/usd.ts';
import { type BudgetNode, releaseNode } from '../budgets/budget-nodes.ts';
import {
  type BudgetOverview,
  type BudgetStanding,
  MAX_SHOWN_BUDGETS,
  readBudgetOverview,
} from '../budgets/budget-overview.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, Money } from './schemas.ts';

const StandingBody = z
  .object({
    account_id: z.number().int(),
    id: z.number().int(),
    name: z.string(),
    hard: z.boolean(),
    amount_usd: Money,
    spent_usd: Money.describe('By all together, in the period under way, as stored calls say it'),
    most_value: z.string().nullable().describe('The run, key id, owner or value that has spent most'),
    most_spent_usd: Money,
    near: z.number().int().describe('How many have used four fifths of it'),
    used_up: z.number().int().describe('How many of those have used all'),
  })
  .openapi('BudgetStanding');

const HeldBody = z.object({
  account_id: z.number().int(),
  budget_id: z.number().int(),
  held_usd: Money.describe('In the period under way, what it has spent included'),
  unused_usd: Money.describe('Of it, what no stored call has spent'),
});

const NodeBody = z
  .object({
    name: z.string(),
    mode: z
      .enum(['sole', 'joining', 'sharing'])
      .nullable()
      .describe('`sole`: it holds all of every budget; null: it takes no part any more'),
    silent_seconds: z.number().int().nullable().describe('Since its last sign of life; null where none is known'),
    lost: z.boolean().describe('No sign of life for 15 minutes, and it did not say that it stops'),
    holds: z.array(HeldBody).describe('The most unused first'),
  })
  .openapi('BudgetNode');

const OverviewBody = z
  .object({
    count: z.number().int().describe('Budgets in force'),
    budgets: z.array(StandingBody).describe(`The most used first, at most ${MAX_SHOWN_BUDGETS}`),
    nodes: z.array(NodeBody),
  })
  .openapi('BudgetOverview');

const ReleasedBody = z.object({ released_usd: Money }).openapi('ReleasedBudgets');

const overviewRoute = createRoute({
  method: 'get',
  path: '/api/v1/budget-overview',
  summary: 'How the budgets of all accounts stand, and which nodes hold money of them',
  responses: { 200: jsonAnswer(OverviewBody, 'As of now'), ...COMMON_ERRORS },
});

const releaseRoute = createRoute({
  method: 'post',
  path: '/api/v1/budget-nodes/{name}/release',
  summary: 'Free what a lost node holds of budgets and has not spent, as far as its calls are stored',
  description:
    'A node that is only cut off spends it a second time until it has reached the database again. Calls that lie in its spool count when they are stored.',
  request: { params: z.object({ name: z.string().min(1).max(500) }) },
  responses: {
    200: jsonAnswer(ReleasedBody, 'What others may spend from now on'),
    404: errorAnswer('It holds nothing'),
    409: errorAnswer('It lives'),
    ...COMMON_ERRORS,
  },
});

function formatStanding({ budget, spent, mostValue, mostSpent, near, usedUp }: BudgetStanding) {
  return {
    account_id: budget.accountId,
    id: budget.id,
    name: budget.name,
    hard: budget.isHard,
    amount_usd: formatUsd(budget.amount),
    spent_usd: formatUsd(spent),
    most_value: mostValue,
    most_spent_usd: formatUsd(mostSpent),
    near,
    used_up: usedUp,
  };
}

function formatNode({ node, mode, silentMs, isLost, holds }: BudgetNode): z.infer<typeof NodeBody> {
  return {
    name: node,
    mode,
    silent_seconds: silentMs === null ? null : Math.floor(Math.max(0, silentMs) / 1_000),
    lost: isLost,
    holds: holds.map(({ accountId, budgetId, held, unused }) => ({
      account_id: accountId,
      budget_id: budgetId,
      held_usd: formatUsd(held),
      unused_usd: formatUsd(unused),
    })),
  };
}

function formatOverview({ count, budgets, nodes }: BudgetOverview): z.infer<typeof OverviewBody> {
  return { count, budgets: budgets.map(formatStanding), nodes: nodes.map(formatNode) };
}

export function addBudgetOverviewRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(overviewRoute, async (c) =>
    c.json(formatOverview(await readBudgetOverview(requireDatabase(deps), deps.nowMs())), 200),
  );

  app.openapi(releaseRoute, async (c) => {
    const { name } = c.req.valid('param');
    const release = await releaseNode(requireDatabase(deps), accountOf(c), name);
    if (release.kind === 'lives')
      throw new ApiError(409, 'node_lives', 'This node has given a sign of life within 15 minutes: stop it first.');
    if (release.kind !== 'released')
      throw new ApiError(
        404,
        'not_found',
        'No node of this name holds money of budgets; `tollgate budgets nodes` lists them.',
      );
    deps.log.info({ node: name, actor: readActor(c) }, 'what a node held of budgets was released');
    return c.json({ released_usd: formatUsd(release.amount) }, 200);
  });
}
