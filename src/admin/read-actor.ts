/**
 * Who asks, for the audit trail: how the request signed in, and the name that the command line gives of itself. There
 * is one admin token, so the name is only what was stated.
 */
import type { Context } from 'hono';
import { ApiError } from './api-error.ts';

/** Sent by `tollgate` with every change, as `user@host`. */
const ACTOR_HEADER = 'X-Tollgate-Actor';
const STATED = /^[\x21-\x7e][\x20-\x7e]{0,99}$/;

/** The guard let the request in by one of two ways; a session counts only without the other. */
export function readActor(c: Context): string {
  const signedIn = c.req.header('authorization') === undefined ? 'dashboard session' : 'admin token';
  const stated = c.req.header(ACTOR_HEADER)?.trim();
  if (stated === undefined || stated === '') return signedIn;
  if (!STATED.test(stated))
    throw new ApiError(400, 'invalid_request', `${ACTOR_HEADER} is at most 100 printable ASCII characters.`);
  return `${signedIn}, as stated by ${stated}`;
}
