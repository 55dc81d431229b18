/** Brakes over HTTP: what they have hit, pausing by hand, and resuming. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { insertHit, listHits, MAX_PAUSES, resumeHit, type StoredHit } from '../brakes/brake-hits.ts';
import {
  ACTIONS,
  BRAKE_RULES,
  changeRule,
  type EffectiveRule,
  findBadSetting,
  listRules,
  RULES,
} from '../brakes/brake-rules.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, limitParameter, listOf, Time, TraceIdParameter } from './schemas.ts';

const MAX_HITS = 200;
const MAX_REASON_CHARS = 300;

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER) });
const Scope = z.enum(['run', 'key']);
const Value = z
  .string()
  .min(1)
  .max(1_024)
  .regex(/^\P{Cc}*$/u, 'without control characters')
  .describe('The trace id of a run, or the number of a key');

const HitBody = z
  .object({
    id: z.number().int(),
    rule: z.string().describe('The rule that was true, or `by_hand`'),
    scope: Scope,
    value: Value,
    action: z.enum(['alarm', 'pause']),
    is_paused: z.boolean().describe('Whether its calls are refused now'),
    reason: z.string().describe('Why; clients of refused calls are told it'),
    numbers: z
      .record(z.string(), z.union([z.number(), z.string()]))
      .describe('What was measured, with the thresholds of then'),
    call_id: z.string().nullable().describe('The call that made the rule true; null for pauses by hand'),
    hit_at: Time,
    hit_by: z.string().nullable().describe('Who paused it by hand'),
    resumed_at: Time.nullable(),
    resumed_by: z.string().nullable(),
  })
  .openapi('BrakeHit');

function formatHit(hit: StoredHit): z.infer<typeof HitBody> {
  return {
    id: hit.id,
    rule: hit.rule,
    scope: hit.scope,
    value: hit.value,
    action: hit.action,
    is_paused: hit.action === 'pause' && hit.resumedAt === null,
    reason: hit.reason,
    numbers: { ...hit.numbers },
    call_id: hit.callId,
    hit_at: hit.hitAt.toISOString(),
    hit_by: hit.hitBy,
    resumed_at: hit.resumedAt?.toISOString() ?? null,
    resumed_by: hit.resumedBy,
  };
}

const RuleBody = z
  .object({
    rule: z.enum(RULES),
    scope: Scope,
    about: z.string().describe('What is true of the run or key then'),
    action: z.enum(ACTIONS),
    settings: z
      .array(
        z.object({
          name: z.string(),
          value: z.number(),
          usual: z.number().describe('Its default'),
          least: z.number(),
          most: z.number(),
          about: z.string(),
        }),
      )
      .describe('Its thresholds'),
    changed_at: Time.nullable().describe('Null for a rule that is as it comes'),
    changed_by: z.string().nullable(),
  })
  .openapi('BrakeRule');

function formatRule({ rule, scope, action, settings, changedAt, changedBy }: EffectiveRule): z.infer<typeof RuleBody> {
  const { about, settings: known } = BRAKE_RULES[rule];
  return {
    rule,
    scope,
    about,
    action,
    settings: Object.entries(known).map(([name, threshold]) => ({
      name,
      value: settings[name] ?? threshold.usual,
      ...threshold,
    })),
    changed_at: changedAt?.toISOString() ?? null,
    changed_by: changedBy,
  };
}

export const brakeRulesRoute = createRoute({
  method: 'get',
  path: '/api/v1/brakes',
  summary: 'The rules of the brakes, each for runs and for keys',
  responses: { 200: jsonAnswer(listOf(RuleBody), 'All in one page'), ...COMMON_ERRORS },
});

export const changeBrakeRoute = createRoute({
  method: 'put',
  path: '/api/v1/brakes/{rule}/{scope}',
  summary: 'Change a rule of the brakes; what is left out stays',
  request: {
    params: z.object({ rule: z.enum(RULES), scope: Scope }),
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z
            .strictObject({
              action: z.enum(ACTIONS).optional(),
              settings: z.record(z.string().max(50), z.number()).optional().describe('Thresholds by name'),
            })
            .openapi('BrakeRuleChange'),
        },
      },
    },
  },
  responses: { 200: jsonAnswer(RuleBody, 'The rule as it holds now, on every node within seconds'), ...COMMON_ERRORS },
});

export const brakeHitsRoute = createRoute({
  method: 'get',
  path: '/api/v1/brakes/hits',
  summary: 'What the brakes have hit, and pauses by hand, the newest first',
  request: {
    query: z.strictObject({
      scope: Scope.optional(),
      value: TraceIdParameter.describe('The trace id of a run, or the number of a key').optional(),
      paused: z.enum(['true']).optional().describe('Only what is paused now'),
      cursor: z
        .string()
        .regex(/^\d{1,15}$/)
        .optional()
        .describe('`next_cursor` of the page before'),
      limit: limitParameter(MAX_HITS, 50),
    }),
  },
  responses: { 200: jsonAnswer(listOf(HitBody), 'A page'), ...COMMON_ERRORS },
});

export const pauseRoute = createRoute({
  method: 'post',
  path: '/api/v1/brakes/pauses',
  summary: 'Pause a run or a key by hand: its calls are refused until it is resumed',
  description: 'Calls under way end by themselves; websockets are closed. Every node refuses within about a second.',
  request: {
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z
            .strictObject({
              scope: Scope,
              value: Value,
              reason: z
                .string()
                .trim()
                .min(1)
                .max(MAX_REASON_CHARS)
                .regex(/^\P{Cc}*$/u, 'without control characters')
                .optional()
                .describe('Why; clients of refused calls are told it'),
            })
            .openapi('NewPause'),
        },
      },
    },
  },
  responses: {
    201: jsonAnswer(HitBody, 'The pause'),
    409: errorAnswer('It is paused already, or there are too many pauses'),
    ...COMMON_ERRORS,
  },
});

export const resumeRoute = createRoute({
  method: 'post',
  path: '/api/v1/brakes/hits/{id}/resume',
  summary: 'Resume what a hit has paused; resuming again changes nothing',
  description: 'The rules begin anew with it: what counted towards the pause does not count again.',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(HitBody, 'The ended pause'),
    404: errorAnswer('There is no pause with this number'),
    ...COMMON_ERRORS,
  },
});

export function addBrakeRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(brakeRulesRoute, async (c) => {
    const rules = await listRules(requireDatabase(deps), accountOf(c));
    return c.json({ data: rules.map(formatRule), next_cursor: null }, 200);
  });

  app.openapi(changeBrakeRoute, async (c) => {
    const named = c.req.valid('param');
    const change = c.req.valid('json');
    const fault = findBadSetting(named.rule, change.settings ?? {});
    if (fault !== null) throw new ApiError(400, 'invalid_request', fault);
    const pool = requireDatabase(deps);
    await changeRule(pool, accountOf(c), named, change, readActor(c));
    const rules = await listRules(pool, accountOf(c));
    const rule = rules.find((one) => one.rule === named.rule && one.scope === named.scope);
    if (rule === undefined) throw new Error('a changed rule is not listed');
    return c.json(formatRule(rule), 200);
  });

  app.openapi(brakeHitsRoute, async (c) => {
    const { scope, value, paused, cursor, limit } = c.req.valid('query');
    const hits = await listHits(requireDatabase(deps), accountOf(c), {
      scope,
      value,
      isPaused: paused === 'true',
      before: cursor === undefined ? undefined : Number(cursor),
      limit,
    });
    const last = hits.length === limit ? hits.at(-1) : undefined;
    return c.json({ data: hits.map(formatHit), next_cursor: last === undefined ? null : String(last.id) }, 200);
  });

  app.openapi(pauseRoute, async (c) => {
    const { scope, value, reason } = c.req.valid('json');
    if (scope === 'key' && !/^[1-9]\d{0,9}$/.test(value))
      throw new ApiError(400, 'invalid_request', 'The value of a key is its number; `tollgate keys list` shows it.');
    const actor = readActor(c);
    const hit = await insertHit(requireDatabase(deps), {
      accountId: accountOf(c),
      rule: 'by_hand',
      scope,
      value,
      action: 'pause',
      reason: reason ?? 'paused by hand',
      numbers: {},
      callId: null,
      hitBy: actor,
    });
    if (hit === 'paused') throw new ApiError(409, 'paused_already', `This ${scope} is paused already.`);
    if (hit === 'full')
      throw new ApiError(409, 'pauses_full', `There are ${MAX_PAUSES} pauses already. Resume some of them.`);
    await deps.publishPauses();
    return c.json(formatHit(hit), 201);
  });

  app.openapi(resumeRoute, async (c) => {
    const hit = await resumeHit(requireDatabase(deps), accountOf(c), c.req.valid('param').id, readActor(c));
    if (hit === null)
      throw new ApiError(404, 'not_found', 'There is no pause with this number; an alarm has nothing to resume.');
    await deps.publishPauses();
    return c.json(formatHit(hit), 200);
  });
}
