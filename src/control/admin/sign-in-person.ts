/** Opens the session of a person who has proved who they are. */
import type { Context } from 'hono';
import { type KnownPerson, noteSignIn } from '../store/people.ts';
import type { AdminDeps } from './admin-deps.ts';
import { requireWholeDatabase } from './behind-wall.ts';
import { isSecure } from './public-origin.ts';
import type { Sessions } from './session.ts';

/** False when the person is gone meanwhile. */
export async function signInPerson(
  c: Context,
  deps: AdminDeps,
  sessions: Sessions,
  person: KnownPerson,
  lifetimeSeconds?: number,
): Promise<boolean> {
  const begunAt = await noteSignIn(requireWholeDatabase(deps), person);
  if (begunAt === null) return false;
  const { id: personId, sessionKey } = person;
  await sessions.begin(c, isSecure(c, deps), { personId, sessionKey, begunMs: begunAt.getTime() }, lifetimeSeconds);
  return true;
}
