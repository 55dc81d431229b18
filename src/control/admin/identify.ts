/** From a credential to a principal: the operator, a person with a membership, an API token, or a visitor by a share link. */
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import { digestKey, isWellFormedApiToken } from '../../keys/gateway-key.ts';
import { FIRST_ACCOUNT_ID, readAccount } from '../store/accounts.ts';
import { checkApiToken } from '../store/api-tokens.ts';
import { readPerson } from '../store/people.ts';
import { readValidShareLink } from '../store/share-links.ts';
import type { AdminDeps } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { requireWholeDatabase } from './behind-wall.ts';
import { ACCOUNT_HEADER, operatorOf, type Principal, SCOPES } from './principal.ts';
import type { LinkSession, PersonSession } from './session.ts';

/** The page writes it: streams and downloads of a browser cannot have a header. It counts with a session only. */
export const ACCOUNT_COOKIE = 'tollgate_account';
const ACCOUNT_ID = /^[1-9]\d{0,8}$/;

/** One answer for what is not there and what is another's. */
const ACCOUNT_UNKNOWN = new ApiError(404, 'account_not_found', 'There is no account with this number for you.');

export interface Identify {
  /** With the admin token, or with its session where `isSession`. */
  readonly operator: (c: Context, isSession: boolean) => Promise<Principal>;
  /** Null when the session is over. */
  readonly person: (c: Context, session: PersonSession) => Promise<Principal | null>;
  /** Null when the link has expired or was revoked. */
  readonly link: (c: Context, session: LinkSession) => Promise<Principal | null>;
  /** Null for anything but a valid API token. */
  readonly token: (c: Context, text: string) => Promise<Principal | null>;
}

function readHeader(c: Context): number | null {
  const text = c.req.header(ACCOUNT_HEADER);
  if (text === undefined) return null;
  if (!ACCOUNT_ID.test(text))
    throw new ApiError(400, 'invalid_request', 'X-Tollgate-Account is the number of an account.');
  return Number(text);
}

function readCookie(c: Context): number | null {
  const text = getCookie(c, ACCOUNT_COOKIE) ?? '';
  return ACCOUNT_ID.test(text) ? Number(text) : null;
}

export function createIdentify(deps: Pick<AdminDeps, 'database'>): Identify {
  const isThere = async (id: number): Promise<boolean> =>
    id === FIRST_ACCOUNT_ID || (await readAccount(requireWholeDatabase(deps), id)) !== null;

  return {
    operator: async (c, isSession) => {
      const asked = readHeader(c);
      if (asked !== null) {
        if (!(await isThere(asked))) throw ACCOUNT_UNKNOWN;
        return operatorOf(asked);
      }
      const chosen = isSession ? readCookie(c) : null;
      return operatorOf(chosen !== null && (await isThere(chosen)) ? chosen : FIRST_ACCOUNT_ID);
    },
    person: async (c, session) => {
      const person = await readPerson(requireWholeDatabase(deps), session.personId);
      if (person === null || session.sessionKey !== person.sessionKey) return null;
      if (session.begunMs < person.sessionsFromMs) return null;
      const asked = readHeader(c);
      const chosen = asked ?? readCookie(c);
      const found = person.memberships.find(({ accountId }) => accountId === chosen);
      if (asked !== null && found === undefined) throw ACCOUNT_UNKNOWN;
      const membership = found ?? person.memberships[0];
      if (membership === undefined) return null;
      const { accountId, role, mayReadBodies } = membership;
      return {
        kind: 'person',
        name: person.email,
        id: person.id,
        accountId,
        role,
        scopes: null,
        mayReadBodies,
        view: null,
      };
    },
    link: async (c, { linkDigest }) => {
      const link = await readValidShareLink(requireWholeDatabase(deps), linkDigest);
      if (link === null) return null;
      const { id, name, accountId, hasBodies, page, parameters, expiresAt } = link;
      const asked = readHeader(c);
      if (asked !== null && asked !== accountId) throw ACCOUNT_UNKNOWN;
      return {
        kind: 'link',
        name,
        id,
        accountId,
        role: 'viewer',
        scopes: [],
        mayReadBodies: hasBodies,
        view: { page, parameters, expiresAt },
      };
    },
    token: async (c, text) => {
      if (!isWellFormedApiToken(text)) return null;
      const token = await checkApiToken(requireWholeDatabase(deps), digestKey(text));
      if (token === null) return null;
      const asked = readHeader(c);
      if (asked !== null && asked !== token.accountId) throw ACCOUNT_UNKNOWN;
      return {
        kind: 'token',
        name: token.name,
        id: token.id,
        accountId: token.accountId,
        role: 'viewer',
        scopes: SCOPES.filter((scope) => token.scopes.includes(scope)),
        mayReadBodies: token.scopes.includes('bodies'),
        view: null,
      };
    },
  };
}
