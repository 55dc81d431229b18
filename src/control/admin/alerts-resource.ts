/** Alerts over HTTP: what is told, a preview, and what was sent. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { listDeliveries, type StoredDelivery } from '../alerts/alert-events.ts';
import { ALERT_KINDS, ALERT_SETTINGS, type AlertKind, OPERATOR_KINDS } from '../alerts/alert-kinds.ts';
import { AlertQuestion } from '../alerts/alert-question.ts';
import {
  type Alert,
  deleteAlert,
  editAlert,
  insertAlert,
  listAlerts,
  MAX_ALERTS,
  MAX_DESTINATIONS,
} from '../alerts/alert-store.ts';
import { previewQuestion } from '../alerts/ask-question.ts';
import { isMadeByOperator } from '../alerts/made-by-operator.ts';
import { OPERATOR_JOBS } from '../store/operator-jobs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { DeletedBody, Id, IdParameter, Name } from './alert-fields.ts';
import { ApiError } from './api-error.ts';
import { describeIssue } from './parse-query.ts';
import { accountOf, isOperator } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, limitParameter, listOf, Time } from './schemas.ts';

const MAX_DELIVERIES = 500;
const AlertBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    kind: z.enum(ALERT_KINDS),
    settings: z.record(z.string(), z.unknown()),
    destinations: z.array(z.number().int()),
    is_on: z.boolean(),
    problem: z.string().nullable().describe('Why it could not be looked at the last time'),
    checked_at: Time.nullable(),
    created_at: Time,
    created_by: z.string(),
    operator_only: z.boolean().describe('Only the operator changes and deletes it'),
  })
  .openapi('Alert');

/** A copy: a schema that was made before this library was loaded lacks its methods. */
const QuestionBody = AlertQuestion.clone().openapi('AlertQuestion');

const DeliveryBody = z
  .object({
    event_id: z.string().describe('As in `webhook-id`: the same for each try'),
    alert_id: z.number().int(),
    alert_name: z.string(),
    title: z.string(),
    fired_at: Time,
    ended_at: Time.nullable().describe('When it was not true any more'),
    destination_id: z.number().int().nullable().describe('Null where nobody was to be told'),
    destination_name: z.string().nullable(),
    state: z.enum(['waiting', 'sent', 'failed', 'dropped']).nullable(),
    attempts: z.number().int().nullable(),
    next_at: Time.nullable(),
    sent_at: Time.nullable(),
    status: z.number().int().nullable().describe('HTTP status of the last answer'),
    error: z.string().nullable(),
  })
  .openapi('AlertDelivery');

function formatAlert(one: Alert): z.infer<typeof AlertBody> {
  return {
    id: one.id,
    name: one.name,
    kind: one.kind,
    settings: z.record(z.string(), z.unknown()).parse(one.settings),
    destinations: [...one.destinations],
    is_on: one.isOn,
    problem: one.problem,
    checked_at: one.checkedAt?.toISOString() ?? null,
    created_at: one.createdAt.toISOString(),
    created_by: one.createdBy,
    operator_only: isOperatorOnly(one),
  };
}

function formatDelivery(one: StoredDelivery): z.infer<typeof DeliveryBody> {
  return {
    event_id: one.eventId,
    alert_id: one.alertId,
    alert_name: one.alertName,
    title: one.title,
    fired_at: one.firedAt.toISOString(),
    ended_at: one.endedAt?.toISOString() ?? null,
    destination_id: one.destinationId,
    destination_name: one.destinationName,
    state: z.enum(['waiting', 'sent', 'failed', 'dropped']).nullable().parse(one.state),
    attempts: one.attempts,
    next_at: one.nextAt?.toISOString() ?? null,
    sent_at: one.sentAt?.toISOString() ?? null,
    status: one.status,
    error: one.error,
  };
}

const NO_ALERT = new ApiError(404, 'not_found', 'There is no alert with this number.');
const UNKNOWN_DESTINATION = new ApiError(
  400,
  'invalid_request',
  'destinations: there is no destination with one of these numbers.',
);

function readSettings(kind: AlertKind, given: unknown): unknown {
  const parsed = ALERT_SETTINGS[kind].safeParse(given ?? {});
  if (!parsed.success) throw new ApiError(400, 'invalid_request', `settings.${describeIssue(parsed.error)}`);
  return parsed.data;
}

function requireKind(c: Context, kind: AlertKind): void {
  if (OPERATOR_KINDS.includes(kind) && !isOperator(c))
    throw new ApiError(
      403,
      'forbidden',
      `Alerts of the kind "${kind}" are about all accounts, so they are the operator's.`,
    );
}

/** What it tells of all accounts would go where somebody else says, or nowhere. */
function isOperatorOnly(alert: Alert): boolean {
  return OPERATOR_KINDS.includes(alert.kind) || (alert.kind === 'jobs' && isMadeByOperator(alert));
}

function requireOwn(c: Context, alert: Alert): void {
  if (isOperatorOnly(alert) && !isOperator(c))
    throw new ApiError(
      403,
      'forbidden',
      'This alert of the operator tells of all accounts: only the operator changes or deletes it. Make one of your own.',
    );
}

export const alertsRoute = createRoute({
  method: 'get',
  path: '/api/v1/alerts',
  summary: 'All alerts, the oldest first',
  responses: { 200: jsonAnswer(listOf(AlertBody), 'All in one page'), ...COMMON_ERRORS },
});

const NewAlertBody = z
  .strictObject({
    name: Name,
    kind: z.enum(ALERT_KINDS),
    settings: z.record(z.string(), z.unknown()).optional().describe('By kind; see docs/alerts.md'),
    destinations: z.array(Id).max(MAX_DESTINATIONS).default([]).describe('Whom it tells'),
    is_on: z.boolean().default(true),
  })
  .openapi('NewAlert');

export const createAlertRoute = createRoute({
  method: 'post',
  path: '/api/v1/alerts',
  summary: 'Make an alert; what was before is not told',
  request: { body: { required: true, content: { 'application/json': { schema: NewAlertBody } } } },
  responses: { 201: jsonAnswer(AlertBody, 'The alert'), 409: errorAnswer('There are too many'), ...COMMON_ERRORS },
});

export const editAlertRoute = createRoute({
  method: 'patch',
  path: '/api/v1/alerts/{id}',
  summary: 'Change an alert; what is left out stays',
  request: {
    params: IdParameter,
    body: {
      required: true,
      content: {
        'application/json': {
          schema: z
            .strictObject({
              name: Name.optional(),
              settings: z.record(z.string(), z.unknown()).optional().describe('All of them'),
              destinations: z.array(Id).max(MAX_DESTINATIONS).optional(),
              is_on: z.boolean().optional(),
            })
            .openapi('AlertChange'),
        },
      },
    },
  },
  responses: { 200: jsonAnswer(AlertBody, 'The alert'), 404: errorAnswer('No such alert'), ...COMMON_ERRORS },
});

export const deleteAlertRoute = createRoute({
  method: 'delete',
  path: '/api/v1/alerts/{id}',
  summary: 'Delete an alert, with what it found',
  request: { params: IdParameter },
  responses: { 200: jsonAnswer(DeletedBody, 'It is gone'), 404: errorAnswer('No such alert'), ...COMMON_ERRORS },
});

export const previewAlertRoute = createRoute({
  method: 'post',
  path: '/api/v1/alerts/preview',
  summary: 'How often an alert for a question would have fired in the last 30 days',
  request: {
    body: { required: true, content: { 'application/json': { schema: QuestionBody } } },
  },
  responses: {
    200: jsonAnswer(
      z
        .object({
          since: Time.describe(
            'It was looked at from here on: 30 days ago, or where the log begins, or as far back as there was time to read',
          ),
          fired: z.number().int(),
          times: z.array(Time).describe('When, the latest 100'),
          highest: z
            .string()
            .nullable()
            .describe('The highest figure of a window; null where there were always too few'),
          step_seconds: z.number().describe('It is looked at in steps: a shorter peak may be missed'),
        })
        .openapi('AlertPreview'),
      'What it would have told',
    ),
    ...COMMON_ERRORS,
  },
});

export const deliveriesRoute = createRoute({
  method: 'get',
  path: '/api/v1/alert-deliveries',
  summary: 'What alerts found and who was told, the newest first',
  request: { query: z.strictObject({ alert_id: Id.optional(), limit: limitParameter(MAX_DELIVERIES, 100) }) },
  responses: { 200: jsonAnswer(listOf(DeliveryBody), 'One page'), ...COMMON_ERRORS },
});

export function addAlertRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(alertsRoute, async (c) => {
    const alerts = await listAlerts(requireDatabase(deps), accountOf(c));
    return c.json({ data: alerts.map(formatAlert), next_cursor: null }, 200);
  });

  app.openapi(createAlertRoute, async (c) => {
    const { name, kind, settings, destinations, is_on: isOn } = c.req.valid('json');
    requireKind(c, kind);
    const alert = await insertAlert(requireDatabase(deps), {
      accountId: accountOf(c),
      name,
      kind,
      settings: readSettings(kind, settings),
      destinations,
      isOn,
      createdBy: readActor(c),
    });
    if (alert === 'unknown_destination') throw UNKNOWN_DESTINATION;
    if (alert === 'full') throw new ApiError(409, 'alerts_full', `There are ${MAX_ALERTS} alerts already.`);
    return c.json(formatAlert(alert), 201);
  });

  app.openapi(previewAlertRoute, async (c) => {
    const pool = requireDatabase(deps);
    const preview = await previewQuestion(pool, accountOf(c), c.req.valid('json'), deps.nowMs());
    const { since, fired, highest, stepSeconds } = preview;
    const times = fired.slice(-100).map((time) => time.toISOString());
    return c.json({ since: since.toISOString(), fired: fired.length, times, highest, step_seconds: stepSeconds }, 200);
  });

  app.openapi(editAlertRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    const { name, settings, destinations, is_on: isOn } = c.req.valid('json');
    const old = (await listAlerts(pool, accountOf(c))).find((one) => one.id === id);
    if (old === undefined) throw NO_ALERT;
    requireOwn(c, old);
    const edit = {
      name,
      destinations,
      isOn,
      settings: settings === undefined ? undefined : readSettings(old.kind, settings),
    };
    const alert = await editAlert(pool, accountOf(c), id, edit);
    if (alert === null) throw NO_ALERT;
    if (alert === 'unknown_destination') throw UNKNOWN_DESTINATION;
    return c.json(formatAlert(alert), 200);
  });

  app.openapi(deleteAlertRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    const alert = (await listAlerts(pool, accountOf(c))).find((one) => one.id === id);
    if (alert === undefined) throw NO_ALERT;
    requireOwn(c, alert);
    if (!(await deleteAlert(pool, accountOf(c), id))) throw NO_ALERT;
    return c.json({ id }, 200);
  });

  app.openapi(deliveriesRoute, async (c) => {
    const { alert_id: alertId, limit } = c.req.valid('query');
    const rows = await listDeliveries(requireDatabase(deps), accountOf(c), {
      alertId: alertId ?? null,
      limit,
      hiddenJobs: isOperator(c) ? [] : OPERATOR_JOBS,
    });
    return c.json({ data: rows.map(formatDelivery), next_cursor: null }, 200);
  });
}
