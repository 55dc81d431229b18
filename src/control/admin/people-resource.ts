/** The people of an account over HTTP: who is in it, with which role, and how they get in. */
import { createHash, randomBytes } from 'node:crypto';
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import {
  editMember,
  endSessionsOf,
  invitePerson,
  listMembers,
  type Member,
  type MemberChange,
  readMember,
  removeMember,
  storePersonLink,
} from '../store/people.ts';
import { ROLE_WORDS } from './access-words.ts';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { requireWholeDatabase } from './behind-wall.ts';
import { accountOf, isOperator, ROLES } from './principal.ts';
import { readOrigin } from './public-origin.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, listOf, NameField, Time } from './schemas.ts';

const MAX_ID = 2_147_483_647;
/** Long enough to be read in the next days, since it often goes by mail. */
const LINK_LIFETIME_MS = 3 * 86_400_000;
const MAX_LINKS = 5;

const MemberBody = z
  .object({
    id: z.number().int(),
    email: z.string(),
    name: z.string(),
    role: z.enum(ROLES).describe(ROLES.map((role) => `${role}: ${ROLE_WORDS[role]}`).join('. ')),
    may_read_bodies: z.boolean().describe('Whether the person may read and search the text of prompts and answers'),
    source: z
      .enum(['invited', 'groups'])
      .describe('groups: by the groups of the identity provider, which say it again at each sign-in'),
    has_password: z.boolean(),
    signed_in_at: Time.nullable().describe('Latest sign-in; null before the first'),
    created_at: Time,
  })
  .openapi('Person');

const LinkBody = z
  .object({ url: z.string().describe('Signs one browser in, once. It is not shown again'), expires_at: Time })
  .openapi('PersonLink');

const Email = z
  .string()
  .trim()
  .max(254)
  .pipe(z.email())
  .describe('By which the person is known, also in other accounts');
const InvitationBody = z
  .strictObject({
    email: Email,
    name: NameField.optional().describe('The address when not given'),
    role: z.enum(ROLES).default('member'),
    may_read_bodies: z.boolean().default(true),
  })
  .openapi('Invitation');
const EditBody = z.strictObject({ role: z.enum(ROLES).optional(), may_read_bodies: z.boolean().optional() });

const InvitedBody = z
  .object({ person: MemberBody, link: LinkBody.nullable().describe('Null for somebody who signs in another way') })
  .openapi('InvitedPerson');

const IdParameter = z.object({ id: z.coerce.number().int().min(1).max(MAX_ID) });

const NOT_FOUND = new ApiError(404, 'not_found', 'There is nobody with this number in the account.');
const LAST_OWNER = new ApiError(
  409,
  'last_owner',
  'This is the only owner of the account. Make somebody else an owner first.',
);

export function digestOfLink(code: string): string {
  return createHash('sha256').update(code).digest('base64url');
}

function formatMember(member: Member): z.infer<typeof MemberBody> {
  return {
    id: member.id,
    email: member.email,
    name: member.name,
    role: member.role,
    may_read_bodies: member.mayReadBodies,
    source: member.source,
    has_password: member.hasPassword,
    signed_in_at: member.signedInAt?.toISOString() ?? null,
    created_at: member.createdAt.toISOString(),
  };
}

function settle(change: MemberChange): Member {
  if (change === 'unknown') throw NOT_FOUND;
  if (change === 'last_owner') throw LAST_OWNER;
  return change;
}

const PersonAnswers = {
  200: jsonAnswer(MemberBody, 'The person, as they are now'),
  404: errorAnswer('Nobody'),
  ...COMMON_ERRORS,
};

export const peopleRoute = createRoute({
  method: 'get',
  path: '/api/v1/people',
  summary: 'The people of the account',
  responses: { 200: jsonAnswer(listOf(MemberBody), 'All in one page, at most 1,000'), ...COMMON_ERRORS },
});

export const inviteRoute = createRoute({
  method: 'post',
  path: '/api/v1/people',
  summary: 'Invite a person to the account: the link in the answer signs them in, once, within three days',
  request: { body: { required: true, content: { 'application/json': { schema: InvitationBody } } } },
  responses: {
    201: jsonAnswer(InvitedBody, 'The person and the link'),
    409: errorAnswer('Already there, or known in another account: then the operator invites them'),
    ...COMMON_ERRORS,
  },
});

export const editPersonRoute = createRoute({
  method: 'patch',
  path: '/api/v1/people/{id}',
  summary: 'Change what a person may do in the account; it counts at once',
  request: { params: IdParameter, body: { required: true, content: { 'application/json': { schema: EditBody } } } },
  responses: { ...PersonAnswers, 409: errorAnswer('The only owner') },
});

export const removePersonRoute = createRoute({
  method: 'delete',
  path: '/api/v1/people/{id}',
  summary: 'Remove a person from the account; it counts at once',
  request: { params: IdParameter },
  responses: { ...PersonAnswers, 409: errorAnswer('The only owner') },
});

export const personLinkRoute = createRoute({
  method: 'post',
  path: '/api/v1/people/{id}/links',
  summary: 'A new link that signs the person in, once, within three days; using it takes a former password away',
  request: { params: IdParameter },
  responses: {
    201: jsonAnswer(LinkBody, 'The link'),
    404: errorAnswer('Nobody'),
    409: errorAnswer('Another account or an identity provider vouches for the person, too'),
    ...COMMON_ERRORS,
  },
});

export const signOutRoute = createRoute({
  method: 'post',
  path: '/api/v1/people/{id}/sign-out',
  summary: 'End all sessions and open links of the person, on every node within a second',
  request: { params: IdParameter },
  responses: PersonAnswers,
});

export function addPeopleRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  async function makeLink(origin: string, personId: number) {
    const code = randomBytes(32).toString('base64url');
    const link = { digest: digestOfLink(code), personId, lifetimeMs: LINK_LIFETIME_MS, limit: MAX_LINKS };
    const expiresAt = await storePersonLink(requireWholeDatabase(deps), link);
    return { url: `${origin}/login#person=${code}`, expires_at: expiresAt.toISOString() };
  }

  app.openapi(peopleRoute, async (c) => {
    const people = await listMembers(requireWholeDatabase(deps), accountOf(c));
    return c.json({ data: people.map(formatMember), next_cursor: null }, 200);
  });

  app.openapi(inviteRoute, async (c) => {
    const { email, name, role, may_read_bodies: mayReadBodies } = c.req.valid('json');
    const invitation = { email, name: name ?? email, role, mayReadBodies };
    const invited = await invitePerson(requireWholeDatabase(deps), accountOf(c), invitation, isOperator(c));
    if (invited === 'known_here') throw new ApiError(409, 'person_known', 'This person is in the account already.');
    if (invited === 'known_elsewhere')
      throw new ApiError(
        409,
        'person_elsewhere',
        'This address belongs to another account, too: ask the operator of the gateway to add it here.',
      );
    const link = invited.isOnlyHere || isOperator(c) ? await makeLink(readOrigin(c, deps), invited.id) : null;
    return c.json({ person: formatMember(invited), link }, 201);
  });

  app.openapi(editPersonRoute, async (c) => {
    const { role, may_read_bodies: mayReadBodies } = c.req.valid('json');
    const id = c.req.valid('param').id;
    const change = await editMember(requireWholeDatabase(deps), accountOf(c), id, { role, mayReadBodies });
    return c.json(formatMember(settle(change)), 200);
  });

  app.openapi(removePersonRoute, async (c) => {
    const change = await removeMember(requireWholeDatabase(deps), accountOf(c), c.req.valid('param').id);
    return c.json(formatMember(settle(change)), 200);
  });

  app.openapi(personLinkRoute, async (c) => {
    const member = await readMember(requireWholeDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (member === null) throw NOT_FOUND;
    // Whoever has the link is the person, in every account.
    if (!member.isOnlyHere && !isOperator(c))
      throw new ApiError(
        409,
        'person_elsewhere',
        'This person belongs to another account or an identity provider, too, so only the operator of the gateway may make a link.',
      );
    return c.json(await makeLink(readOrigin(c, deps), member.id), 201);
  });

  app.openapi(signOutRoute, async (c) => {
    const pool = requireWholeDatabase(deps);
    const member = await readMember(pool, accountOf(c), c.req.valid('param').id);
    if (member === null) throw NOT_FOUND;
    await endSessionsOf(pool, member.id);
    return c.json(formatMember(member), 200);
  });
}
