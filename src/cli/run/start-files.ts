/** Files for one start of a client, readable by the user alone. They go with it, and those of a killed `tollgate run` at the next. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function dirOf(ownDir: string): string {
  return join(ownDir, 'starts');
}

/** Returns its path. The name begins with the process that it belongs to. */
export function writeStartFile(ownDir: string, name: string, text: string): string {
  mkdirSync(dirOf(ownDir), { recursive: true, mode: 0o700 });
  const path = join(dirOf(ownDir), `${process.pid}-${name}`);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It lives, and is another user's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

export function removeLeftStartFiles(ownDir: string): void {
  let names: readonly string[] = [];
  try {
    names = readdirSync(dirOf(ownDir));
  } catch {
    return; // There were none yet.
  }
  for (const name of names) {
    const pid = /^(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(dirOf(ownDir), name), { force: true });
  }
}
