/**
 * A browser's session: a signed cookie with an expiry. The key derives from the admin token, so a session outlives
 * restarts, holds on every node with that token, and ends with it.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { EndedSessions } from './ended-sessions.ts';

export const SESSION_COOKIE = 'tollgate_session';
const LIFETIME_SECONDS = 30 * 86_400;
const VALUE = /^(\d{1,12})\.[\w-]+$/;

export interface Sessions {
  /** `isSecure` restricts the cookie to TLS. */
  readonly begin: (c: Context, isSecure: boolean) => Promise<void>;
  readonly isValid: (c: Context) => Promise<boolean>;
  /** Removes the cookie and refuses every copy of it. */
  readonly end: (c: Context, isSecure: boolean) => Promise<void>;
}

export function createSessions(adminToken: string, ended: EndedSessions, nowMs: () => number = Date.now): Sessions {
  const key = createHmac('sha256', adminToken).update('tollgate session cookie, version 1').digest();
  const attributes = (secure: boolean) => ({ path: '/', httpOnly: true, sameSite: 'Strict', secure }) as const;

  /** Reads a genuine cookie, even an expired one. */
  async function read(c: Context): Promise<{ readonly value: string; readonly expiresAtMs: number } | null> {
    const signed = await getSignedCookie(c, key, SESSION_COOKIE);
    const value = signed === false ? '' : (signed ?? '');
    const expiresAt = VALUE.exec(value)?.[1];
    return expiresAt === undefined ? null : { value, expiresAtMs: Number(expiresAt) * 1_000 };
  }

  return {
    begin: async (c, isSecure) => {
      const expiresAt = Math.floor(nowMs() / 1_000) + LIFETIME_SECONDS;
      const value = `${expiresAt}.${randomBytes(16).toString('base64url')}`;
      await setSignedCookie(c, SESSION_COOKIE, value, key, { ...attributes(isSecure), maxAge: LIFETIME_SECONDS });
    },
    isValid: async (c) => {
      const session = await read(c);
      return session !== null && nowMs() < session.expiresAtMs && !ended.has(session.value);
    },
    end: async (c, isSecure) => {
      const session = await read(c);
      if (session !== null) ended.add(session.value, session.expiresAtMs);
      deleteCookie(c, SESSION_COOKIE, attributes(isSecure));
    },
  };
}
