/** Alerts over HTTP: what is told, where to, a preview, a test, and what was sent. */
import { randomBytes } from 'node:crypto';
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { v7 } from 'uuid';
import { listDeliveries, type StoredDelivery } from '../alerts/alert-events.ts';
import {
  ALERT_KINDS,
  ALERT_SETTINGS,
  type AlertKind,
  OPERATOR_KINDS,
  QuestionSettings,
} from '../alerts/alert-kinds.ts';
import {
  type Alert,
  type Destination,
  deleteAlert,
  deleteDestination,
  editAlert,
  insertAlert,
  insertDestination,
  listAlerts,
  listDestinations,
  MAX_ALERTS,
  MAX_DESTINATIONS,
} from '../alerts/alert-store.ts';
import { findBadAddress } from '../alerts/post-json.ts';
import { previewQuestion } from '../alerts/question-sums.ts';
import { sendMessage } from '../alerts/send-message.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { describeIssue } from './parse-query.ts';
import { accountOf, isOperator } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, limitParameter, listOf, Time } from './schemas.ts';

const MAX_DELIVERIES = 500;
const SECRET_BYTES = 24;
const MAIL = /^[^\s@<>,]+@[^\s@<>,]+$/;
const MAX_RECEIVERS = 20;

const Id = z.coerce.number().int().min(1).max(2_147_483_647);
const IdParameter = z.object({ id: Id });
const Name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .regex(/^\P{Cc}*$/u, 'without control characters');

const DestinationBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    kind: z.enum(['webhook', 'slack', 'email']),
    address: z.string().describe('Where it goes; of Slack the host alone, since the rest is a secret'),
    created_at: Time,
    created_by: z.string(),
  })
  .openapi('AlertDestination');

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
  })
  .openapi('Alert');

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

const DeletedBody = z.object({ id: z.number().int() });

function formatDestination(one: Destination): z.infer<typeof DestinationBody> {
  const { id, name, kind, createdBy } = one;
  const address = kind === 'slack' ? `https://${URL.parse(one.address)?.host ?? ''}/…` : one.address;
  return { id, name, kind, address, created_at: one.createdAt.toISOString(), created_by: createdBy };
}

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
const NO_DESTINATION = new ApiError(404, 'not_found', 'There is no destination with this number.');
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
    body: { required: true, content: { 'application/json': { schema: QuestionSettings.openapi('AlertQuestion') } } },
  },
  responses: {
    200: jsonAnswer(
      z
        .object({
          days: z.number().int(),
          fired: z.number().int(),
          times: z.array(Time).describe('When, the latest 100'),
          highest: z.string().describe('The highest sum within a window'),
          step_seconds: z.number().int().describe('It is looked at in steps: a shorter peak may be missed'),
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

export const destinationsRoute = createRoute({
  method: 'get',
  path: '/api/v1/alert-destinations',
  summary: 'Where alerts may go, without secrets',
  responses: { 200: jsonAnswer(listOf(DestinationBody), 'All in one page'), ...COMMON_ERRORS },
});

const Address = z.string().min(1).max(2_000);
const NewDestinationBody = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('webhook'), name: Name, url: Address }),
    z.strictObject({ kind: z.literal('slack'), name: Name, url: Address.describe('Of an incoming webhook') }),
    z.strictObject({
      kind: z.literal('email'),
      name: Name,
      to: z.array(z.string().max(254).regex(MAIL, 'an address of mail')).min(1).max(MAX_RECEIVERS),
    }),
  ])
  .openapi('NewAlertDestination');

export const createDestinationRoute = createRoute({
  method: 'post',
  path: '/api/v1/alert-destinations',
  summary: 'Make a destination for alerts',
  description: 'A webhook is signed as Standard Webhooks has it; its `secret` is shown only here.',
  request: { body: { required: true, content: { 'application/json': { schema: NewDestinationBody } } } },
  responses: {
    201: jsonAnswer(
      DestinationBody.extend({ secret: z.string().nullable().describe('Of a webhook; shown once') }).openapi(
        'CreatedAlertDestination',
      ),
      'The destination',
    ),
    409: errorAnswer('There are too many'),
    ...COMMON_ERRORS,
  },
});

export const deleteDestinationRoute = createRoute({
  method: 'delete',
  path: '/api/v1/alert-destinations/{id}',
  summary: 'Delete a destination, with what waits for it',
  request: { params: IdParameter },
  responses: { 200: jsonAnswer(DeletedBody, 'It is gone'), 404: errorAnswer('No such destination'), ...COMMON_ERRORS },
});

export const testDestinationRoute = createRoute({
  method: 'post',
  path: '/api/v1/alert-destinations/{id}/test',
  summary: 'Send a destination a message now, once',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(
      z
        .object({ is_sent: z.boolean(), status: z.number().int().nullable(), error: z.string().nullable() })
        .openapi('AlertTest'),
      'What came of it',
    ),
    404: errorAnswer('No such destination'),
    ...COMMON_ERRORS,
  },
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
    const { days, fired, highest, stepSeconds } = preview;
    const times = fired.slice(-100).map((time) => time.toISOString());
    return c.json({ days, fired: fired.length, times, highest, step_seconds: stepSeconds }, 200);
  });

  app.openapi(editAlertRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { id } = c.req.valid('param');
    const { name, settings, destinations, is_on: isOn } = c.req.valid('json');
    const old = (await listAlerts(pool, accountOf(c))).find((one) => one.id === id);
    if (old === undefined) throw NO_ALERT;
    requireKind(c, old.kind);
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
    const { id } = c.req.valid('param');
    if (!(await deleteAlert(requireDatabase(deps), accountOf(c), id))) throw NO_ALERT;
    return c.json({ id }, 200);
  });

  app.openapi(deliveriesRoute, async (c) => {
    const { alert_id: alertId, limit } = c.req.valid('query');
    const rows = await listDeliveries(requireDatabase(deps), accountOf(c), { alertId: alertId ?? null, limit });
    return c.json({ data: rows.map(formatDelivery), next_cursor: null }, 200);
  });

  app.openapi(destinationsRoute, async (c) => {
    const destinations = await listDestinations(requireDatabase(deps), accountOf(c));
    return c.json({ data: destinations.map(formatDestination), next_cursor: null }, 200);
  });

  app.openapi(createDestinationRoute, async (c) => {
    const asked = c.req.valid('json');
    if (asked.kind !== 'email') {
      const fault = findBadAddress(asked.url, { allowedHosts: deps.alertSending.alerts.hosts });
      if (fault !== null) throw new ApiError(400, 'address_refused', `The address cannot be used: ${fault}.`);
    }
    const secret = asked.kind === 'webhook' ? `whsec_${randomBytes(SECRET_BYTES).toString('base64')}` : null;
    const destination = await insertDestination(requireDatabase(deps), {
      accountId: accountOf(c),
      name: asked.name,
      kind: asked.kind,
      address: asked.kind === 'email' ? asked.to.join(', ') : asked.url,
      secret,
      createdBy: readActor(c),
    });
    if (destination === null)
      throw new ApiError(409, 'destinations_full', `There are ${MAX_DESTINATIONS} destinations already.`);
    return c.json({ ...formatDestination(destination), secret }, 201);
  });

  app.openapi(deleteDestinationRoute, async (c) => {
    const { id } = c.req.valid('param');
    if (!(await deleteDestination(requireDatabase(deps), accountOf(c), id))) throw NO_DESTINATION;
    return c.json({ id }, 200);
  });

  app.openapi(testDestinationRoute, async (c) => {
    const { id } = c.req.valid('param');
    const destinations = await listDestinations(requireDatabase(deps), accountOf(c));
    const destination = destinations.find((one) => one.id === id);
    if (destination === undefined) throw NO_DESTINATION;
    const result = await sendMessage(
      {
        id: v7(),
        accountId: accountOf(c),
        alert: null,
        subject: 'test',
        title: 'Tollgate: a test of this destination',
        body: 'Alerts that name it come here.',
        numbers: {},
        firedAt: new Date(deps.nowMs()),
      },
      destination,
      deps.alertSending,
    );
    return c.json({ is_sent: result.isSent, status: result.status, error: result.error }, 200);
  });
}
