/** The author of a change for the audit trail: the way of signing in, and the name that the command line states. */
import type { Context } from 'hono';
import { OPERATOR_NAMES, STATED_BY } from '../alerts/made-by-operator.ts';
import { ApiError } from './api-error.ts';
import { principalOf } from './principal.ts';

/** `tollgate` sends it as `user@host`. */
const ACTOR_HEADER = 'X-Tollgate-Actor';
const STATED = /^[\x21-\x7e][\x20-\x7e]{0,99}$/;

/** A session counts only without a token. */
export function readActor(c: Context): string {
  const { kind, name, id } = principalOf(c);
  if (kind === 'token') return `API token ${name}`;
  if (kind === 'link') return `share link ${id}`;
  if (kind === 'person') return name;
  const [byToken, byDashboard] = OPERATOR_NAMES;
  const signedIn = c.req.header('authorization') === undefined ? byDashboard : byToken;
  const stated = c.req.header(ACTOR_HEADER)?.trim();
  if (stated === undefined || stated === '') return signedIn;
  if (!STATED.test(stated))
    throw new ApiError(400, 'invalid_request', `${ACTOR_HEADER} is at most 100 printable ASCII characters.`);
  return `${signedIn}${STATED_BY}${stated}`;
}
