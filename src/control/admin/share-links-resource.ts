/** Share links over HTTP: one run or one view, shown without a sign-in until the link expires or is revoked. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { createShareToken, digestKey, keyHints } from '../../keys/gateway-key.ts';
import { parseTime } from '../log/log-filter.ts';
import {
  insertShareLink,
  listShareLinks,
  MAX_SHARE_LINKS,
  revokeShareLink,
  SHARED_PAGES,
  type StoredShareLink,
} from '../store/share-links.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { groupsOf } from './costs-resource.ts';
import { accountOf } from './principal.ts';
import { readOrigin } from './public-origin.ts';
import { readActor } from './read-actor.ts';
import { requireBodies } from './route-access.ts';
import {
  COMMON_ERRORS,
  errorAnswer,
  jsonAnswer,
  listOf,
  NameField,
  TIME_FORM,
  Time,
  TraceIdParameter,
} from './schemas.ts';
import { LogScopeQuery, logScopeOf, RunScopeQuery, runScopeOf, searchParameter } from './scope-parameters.ts';

const MAX_ID = 2_147_483_647;
const MAX_DAYS = 365;
const DAY_MS = 86_400_000;
const MAX_FILTERS = 20;

const Parameters = z
  .record(z.string(), z.array(z.string()))
  .describe(
    'Of the run or view, as the API has them: `trace_id`; or `f`, `q`, `exclude_runs`, `from`, `to`, `group_by`',
  );

const ShareLinkBody = z
  .object({
    id: z.number().int(),
    name: z.string(),
    page: z.enum(SHARED_PAGES),
    parameters: Parameters,
    bodies: z.boolean().describe('Whether it shows the text of prompts and answers'),
    last4: z.string().describe('Last characters of its token'),
    created_at: Time,
    created_by: z.string(),
    expires_at: Time,
    last_used_at: Time.nullable().describe('When it was last opened'),
    revoked_at: Time.nullable(),
  })
  .openapi('ShareLink');

const CreatedBody = ShareLinkBody.extend({
  url: z
    .string()
    .describe('The link itself; it is never shown again. Its token stands after the #, which no server log sees'),
}).openapi('CreatedShareLink');

const COMMON = {
  name: NameField.describe('What it is for'),
  bodies: z.boolean().default(false).describe('Show the text of prompts and answers, too, if the asker may read it'),
  expires_at: z.iso.datetime({ offset: true }).describe(`At most ${MAX_DAYS} days ahead`),
};
const Filters = z.array(z.string().max(2_048)).max(MAX_FILTERS).default([]).describe('As `f` of the page’s list');
/** The page asks with it again, as its parameter. */
const Instant = z.iso
  .datetime({ offset: true })
  .refine((text) => parseTime(text) !== null, TIME_FORM)
  .describe('A fixed time: what comes later is not shown');
const Search = searchParameter('what the page searches; only with `bodies`');

const NewBody = z
  .discriminatedUnion('page', [
    z.strictObject({ page: z.literal('run'), trace_id: TraceIdParameter, ...COMMON }),
    z.strictObject({
      page: z.literal('logs'),
      f: Filters,
      q: Search,
      exclude_runs: z.boolean().default(false),
      from: Instant,
      to: Instant,
      ...COMMON,
    }),
    z.strictObject({ page: z.literal('runs'), f: Filters, q: Search, from: Instant, to: Instant, ...COMMON }),
    z.strictObject({
      page: z.literal('costs'),
      f: Filters,
      group_by: z.string().max(1_024).default('model'),
      from: Instant,
      to: Instant,
      ...COMMON,
    }),
  ])
  .openapi('NewShareLink');

export type ShareLink = z.infer<typeof ShareLinkBody>;
export type CreatedShareLink = z.infer<typeof CreatedBody>;
export type NewShareLink = z.input<typeof NewBody>;

export function parametersOf(query: string): Record<string, string[]> {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]));
}

function formatLink(link: StoredShareLink): z.infer<typeof ShareLinkBody> {
  return {
    id: link.id,
    name: link.name,
    page: link.page,
    parameters: parametersOf(link.parameters),
    bodies: link.hasBodies,
    last4: link.last4,
    created_at: link.createdAt.toISOString(),
    created_by: link.createdBy,
    expires_at: link.expiresAt.toISOString(),
    last_used_at: link.lastUsedAt?.toISOString() ?? null,
    revoked_at: link.revokedAt?.toISOString() ?? null,
  };
}

const invalid = (message: string) => new ApiError(400, 'invalid_request', message);

/** Throws for what its page could not show. */
function queryOf(accountId: number, asked: z.infer<typeof NewBody>): string {
  const query = new URLSearchParams();
  if (asked.page === 'run') {
    query.set('trace_id', asked.trace_id);
    return query.toString();
  }
  const { f, from, to } = asked;
  if (Date.parse(from) >= Date.parse(to)) throw invalid('`to` is not later than `from`.');
  if (asked.page === 'costs') {
    groupsOf(asked.group_by);
    logScopeOf(accountId, LogScopeQuery.parse({ f }));
    query.set('group_by', asked.group_by);
  } else {
    if (asked.page === 'logs') logScopeOf(accountId, LogScopeQuery.parse({ f }));
    else runScopeOf(accountId, RunScopeQuery.parse({ f }));
    if (asked.q !== undefined && asked.q !== '') {
      if (!asked.bodies)
        throw invalid('A view with a search shows what texts hold; share it with `bodies`, or without `q`.');
      query.set('q', asked.q);
    }
    if (asked.page === 'logs' && asked.exclude_runs) query.set('exclude_runs', 'true');
  }
  for (const filter of f) query.append('f', filter);
  query.set('from', from);
  query.set('to', to);
  return query.toString();
}

export const shareLinksRoute = createRoute({
  method: 'get',
  path: '/api/v1/share-links',
  summary: 'All share links, revoked ones too, the newest first',
  responses: { 200: jsonAnswer(listOf(ShareLinkBody), 'All in one page, at most 1,000'), ...COMMON_ERRORS },
});

export const createShareLinkRoute = createRoute({
  method: 'post',
  path: '/api/v1/share-links',
  summary: 'Make a link that shows one run or one view without a sign-in, and nothing else',
  request: { body: { required: true, content: { 'application/json': { schema: NewBody } } } },
  responses: {
    201: jsonAnswer(CreatedBody, 'The link, shown once'),
    409: errorAnswer('There are too many'),
    ...COMMON_ERRORS,
  },
});

export const revokeShareLinkRoute = createRoute({
  method: 'delete',
  path: '/api/v1/share-links/{id}',
  summary: 'Revoke a share link, and end the visits of all who came by it; revoking again changes nothing',
  request: { params: z.object({ id: z.coerce.number().int().min(1).max(MAX_ID) }) },
  responses: {
    200: jsonAnswer(ShareLinkBody, 'The revoked link'),
    404: errorAnswer('No such link'),
    ...COMMON_ERRORS,
  },
});

export function addShareLinkRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(shareLinksRoute, async (c) => {
    const links = await listShareLinks(requireDatabase(deps), accountOf(c));
    return c.json({ data: links.map(formatLink), next_cursor: null }, 200);
  });

  app.openapi(createShareLinkRoute, async (c) => {
    const asked = c.req.valid('json');
    const accountId = accountOf(c);
    if (asked.bodies) requireBodies(c);
    const expiresAt = new Date(asked.expires_at);
    const aheadMs = expiresAt.getTime() - deps.nowMs();
    if (aheadMs <= 0 || aheadMs > MAX_DAYS * DAY_MS)
      throw invalid(`A link expires between now and ${MAX_DAYS} days from now.`);
    const token = createShareToken();
    const link = await insertShareLink(requireDatabase(deps), {
      accountId,
      name: asked.name,
      page: asked.page,
      parameters: queryOf(accountId, asked),
      hasBodies: asked.bodies,
      digest: digestKey(token),
      last4: keyHints(token).last4,
      createdBy: readActor(c),
      expiresAt,
    });
    if (link === null)
      throw new ApiError(409, 'share_links_full', `There are ${MAX_SHARE_LINKS} valid links already; revoke some.`);
    return c.json({ ...formatLink(link), url: `${readOrigin(c, deps)}/login#link=${token}` }, 201);
  });

  app.openapi(revokeShareLinkRoute, async (c) => {
    const link = await revokeShareLink(requireDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (link === null) throw new ApiError(404, 'not_found', 'There is no share link with this id.');
    return c.json(formatLink(link), 200);
  });
}
