/** Access to the admin API: `admin.json` (address, token; mode 0600), the first key, login links. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { readJsonFile, writePrivateFile } from './private-file.ts';

const KEY_TIMEOUT_MS = 30_000;
const LINK_TIMEOUT_MS = 3_000;
const RETRY_MS = 50;

const adminSchema = z.object({ url: z.string(), token: z.string().min(16) });
const keysSchema = z.object({ data: z.array(z.unknown()) });
const keySchema = z.object({ key: z.string() });
const linkSchema = z.object({ url: z.string() });

export interface AdminAccess {
  readonly url: string;
  readonly token: string;
}

/** The token is the given one, else the one in the file, else a new one. Writes the file. */
export function writeAdminAccess(dataDir: string, url: string, givenToken: string | null): AdminAccess {
  const file = join(dataDir, 'admin.json');
  const former = adminSchema.safeParse(readJsonFile(file));
  const token = givenToken ?? (former.success ? former.data.token : randomBytes(32).toString('base64url'));
  writePrivateFile(file, `${JSON.stringify({ url, token })}\n`);
  return { url, token };
}

/** Null when this data directory has had its first key or the database has keys. Throws when the API refuses. */
export async function createFirstKey(dataDir: string, admin: AdminAccess): Promise<string | null> {
  const flag = join(dataDir, 'first-key-created');
  if (existsSync(flag)) return null;
  const deadline = AbortSignal.timeout(KEY_TIMEOUT_MS);
  const listed = await askKeys(admin, { method: 'GET' }, deadline);
  const key = keysSchema.parse(listed).data.length > 0 ? null : await makeKey(admin, deadline);
  writePrivateFile(flag, `${new Date().toISOString()}\n`);
  return key;
}

/** Resolves when keys can be made; rejects when that takes too long. */
export async function awaitKeys(admin: AdminAccess): Promise<void> {
  await askKeys(admin, { method: 'GET' }, AbortSignal.timeout(KEY_TIMEOUT_MS));
}

async function makeKey(admin: AdminAccess, deadline: AbortSignal): Promise<string> {
  const init = { method: 'POST', body: JSON.stringify({ name: 'first' }) };
  return keySchema.parse(await askKeys(admin, init, deadline)).key;
}

/** Until the database's schema is up the API answers 503 `database_unavailable`. */
async function askKeys(admin: AdminAccess, init: RequestInit, deadline: AbortSignal): Promise<unknown> {
  for (;;) {
    const response = await fetch(`${admin.url}/api/v1/keys`, {
      ...init,
      headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
      signal: deadline,
    });
    const isEarly = response.status === 503 && (await response.clone().text()).includes('database_unavailable');
    if (!isEarly && !response.ok) throw new Error(`the admin API answered ${response.status} to the first key`);
    if (response.ok) return response.json();
    await delay(RETRY_MS, undefined, { signal: deadline });
  }
}

/** Throws when the API does not answer soon: a start does not wait for it. */
export async function createLoginLink(admin: AdminAccess): Promise<string> {
  const response = await fetch(`${admin.url}/api/v1/login-links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}` },
    signal: AbortSignal.timeout(LINK_TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`the admin API answered ${response.status} to the login link`);
  return linkSchema.parse(await response.json()).url;
}
