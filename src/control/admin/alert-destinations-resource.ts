/** Where alerts may go, over HTTP: webhooks, Slack and mail, and a test of each. */
import { randomBytes } from 'node:crypto';
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { v7 } from 'uuid';
import { sealingKeysOf } from '../../keys/envelope.ts';
import { deleteDestination, insertDestination, listDestinations, MAX_DESTINATIONS } from '../alerts/alert-store.ts';
import type { StoredDestination } from '../alerts/destination.ts';
import { findBadAddress } from '../alerts/post-json.ts';
import { openDestination, sealDestination, showAddress } from '../alerts/sealed-destination.ts';
import { NOT_OPENED, sendMessage } from '../alerts/send-message.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { DeletedBody, IdParameter, Name } from './alert-fields.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { readActor } from './read-actor.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, Time } from './schemas.ts';

const SECRET_BYTES = 24;
const MAIL = /^[^\s@<>,]+@[^\s@<>,]+$/;
const MAX_RECEIVERS = 20;

const DestinationBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    kind: z.enum(['webhook', 'slack', 'email']),
    address: z.string().describe('Where it goes; of Slack the host alone, since the rest is a secret'),
    is_sealed: z
      .boolean()
      .describe('Whether its secret is encrypted in the database; never that of mail, which has none'),
    created_at: Time,
    created_by: z.string(),
  })
  .openapi('AlertDestination');

function formatDestination(one: StoredDestination): z.infer<typeof DestinationBody> {
  const { id, name, kind, createdBy } = one;
  return {
    id,
    name,
    kind,
    address: showAddress(one),
    is_sealed: one.seal !== null,
    created_at: one.createdAt.toISOString(),
    created_by: createdBy,
  };
}

const NO_DESTINATION = new ApiError(404, 'not_found', 'There is no destination with this number.');

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

export function addAlertDestinationRoutes(app: OpenAPIHono, deps: AdminDeps): void {
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
    const destination = await insertDestination(
      requireDatabase(deps),
      sealDestination(sealingKeysOf(deps.credentialKeys)[0], {
        accountId: accountOf(c),
        name: asked.name,
        kind: asked.kind,
        address: asked.kind === 'email' ? asked.to.join(', ') : asked.url,
        secret,
        createdBy: readActor(c),
      }),
    );
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
    const stored = destinations.find((one) => one.id === id);
    if (stored === undefined) throw NO_DESTINATION;
    const destination = openDestination(sealingKeysOf(deps.credentialKeys), stored);
    if (destination === null) return c.json({ is_sent: false, status: null, error: NOT_OPENED.error }, 200);
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
