/** Ends the children of a killed supervisor (`children.json`): one spool must not have two shippers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { readJsonFile, writePrivateFile } from './private-file.ts';
import { isAlive, type ProcessIdentity, readRealm } from './process-identity.ts';

/** Children end 5 s after they lost their supervisor. */
const END_LIMIT_MS = 6_000;
const KILL_LIMIT_MS = 2_000;
const POLL_MS = 25;

const childrenSchema = z.object({
  bootId: z.string(),
  pidNamespace: z.string(),
  children: z.array(z.object({ pid: z.number().int().positive(), startTime: z.string() })),
});

export function writeChildren(file: string, children: readonly ProcessIdentity[]): void {
  writePrivateFile(file, JSON.stringify({ ...readRealm(), children }));
}

/** Logs a failed write: a full disk does not stop a gateway, and only a start after a kill -9 reads the note. */
export function noteChildren(file: string, children: readonly ProcessIdentity[], log: Logger): void {
  try {
    writeChildren(file, children);
  } catch (error) {
    log.warn({ err: error }, 'cannot note the children');
  }
}

async function waitUntilGone(children: readonly ProcessIdentity[], limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (children.some(isAlive)) {
    if (performance.now() > endMs) return false;
    await sleep(POLL_MS);
  }
  return true;
}

export async function endFormerChildren(file: string, log: Logger): Promise<void> {
  const parsed = childrenSchema.safeParse(readJsonFile(file));
  if (!parsed.success) return;
  const realm = readRealm();
  if (parsed.data.bootId !== realm.bootId || parsed.data.pidNamespace !== realm.pidNamespace) return;
  const alive = parsed.data.children.filter(isAlive);
  if (alive.length === 0) return;
  log.warn({ pids: alive.map(({ pid }) => pid) }, 'waiting for the processes of a killed gateway to end');
  if (await waitUntilGone(alive, END_LIMIT_MS)) return;
  for (const child of alive.filter(isAlive)) {
    log.warn({ pid: child.pid }, 'killing a process of a killed gateway');
    try {
      process.kill(child.pid, 'SIGKILL');
    } catch {}
  }
  await waitUntilGone(alive, KILL_LIMIT_MS);
}
