/**
 * A browser's session: a signed cookie with an expiry and, for a person, a name. The key derives from the admin token, so
 * a session outlives restarts, holds on every node with that token, and ends with it.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { EndedSessions } from './ended-sessions.ts';

export const SESSION_COOKIE = 'tollgate_session';
const LIFETIME_SECONDS = 30 * 86_400;
/**
 * Expiry in seconds, a random part; of a person the number, their random value, and when the session began in milliseconds;
 * or of a share link the digest. Numbers alone name somebody else after a restore.
 */
const VALUE = /^(\d{1,12})\.[\w-]+(?:\.p(\d{1,10})\.([0-9a-f-]{36})\.(\d{1,15})|\.l([0-9a-f]{64}))?$/;

export interface PersonSession {
  readonly personId: number;
  readonly sessionKey: string;
  readonly begunMs: number;
}

/** Of whoever came by a share link. */
export interface LinkSession {
  /** SHA-256 of its token, hex. */
  readonly linkDigest: string;
}

/** Null: the operator. */
export type SessionHolder = PersonSession | LinkSession | null;

export interface Sessions {
  /** `isSecure` restricts the cookie to TLS. */
  readonly begin: (c: Context, isSecure: boolean, holder?: SessionHolder, lifetimeSeconds?: number) => Promise<void>;
  /** Null without a valid session. */
  readonly read: (c: Context) => Promise<{ readonly holder: SessionHolder } | null>;
  readonly isValid: (c: Context) => Promise<boolean>;
  /** Removes the cookie and refuses every copy of it. */
  readonly end: (c: Context, isSecure: boolean) => Promise<void>;
}

function formatHolder(holder: SessionHolder): string {
  if (holder === null) return '';
  if ('linkDigest' in holder) return `.l${holder.linkDigest}`;
  return `.p${holder.personId}.${holder.sessionKey}.${holder.begunMs}`;
}

export function createSessions(adminToken: string, ended: EndedSessions, nowMs: () => number = Date.now): Sessions {
  const key = createHmac('sha256', adminToken).update('tollgate session cookie, version 1').digest();
  const attributes = (secure: boolean) => ({ path: '/', httpOnly: true, sameSite: 'Strict', secure }) as const;

  /** Reads a genuine cookie, even an expired one. */
  async function readCookie(c: Context) {
    const signed = await getSignedCookie(c, key, SESSION_COOKIE);
    const value = signed === false ? '' : (signed ?? '');
    const [, expiresAt, personId, sessionKey, begunMs, linkDigest] = VALUE.exec(value) ?? [];
    if (expiresAt === undefined) return null;
    const person =
      sessionKey === undefined ? null : { personId: Number(personId), sessionKey, begunMs: Number(begunMs) };
    const holder = linkDigest === undefined ? person : { linkDigest };
    return { value, expiresAtMs: Number(expiresAt) * 1_000, holder };
  }

  async function read(c: Context) {
    const session = await readCookie(c);
    return session !== null && nowMs() < session.expiresAtMs && !ended.has(session.value) ? session : null;
  }

  return {
    begin: async (c, isSecure, holder = null, lifetimeSeconds = LIFETIME_SECONDS) => {
      const expiresAt = Math.floor(nowMs() / 1_000) + lifetimeSeconds;
      const value = `${expiresAt}.${randomBytes(16).toString('base64url')}${formatHolder(holder)}`;
      await setSignedCookie(c, SESSION_COOKIE, value, key, { ...attributes(isSecure), maxAge: lifetimeSeconds });
    },
    read,
    isValid: async (c) => (await read(c)) !== null,
    end: async (c, isSecure) => {
      const session = await readCookie(c);
      if (session !== null) ended.add(session.value, session.expiresAtMs);
      deleteCookie(c, SESSION_COOKIE, attributes(isSecure));
    },
  };
}
