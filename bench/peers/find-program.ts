/** Finds other gateways' programs: where a variable names one, else on the path. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface FoundProgram {
  readonly path: string;
  /** Null: it is there. */
  readonly missing: string | null;
}

function isThere(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** `command`: its name on the path; null where no command of that name would be the program. */
export function findProgram(variable: string, command: string | null): FoundProgram {
  const named = process.env[variable];
  if (named !== undefined)
    return { path: named, missing: isThere(named) ? null : `${variable} names ${named}, which cannot be read` };
  const folders = command === null ? [] : (process.env['PATH'] ?? '').split(delimiter);
  const path = folders.map((folder) => join(folder, command ?? '')).find(isThere);
  if (path !== undefined) return { path, missing: null };
  const elsewhere = command === null ? '' : `${command} is not on the path, and `;
  return { path: '', missing: `${elsewhere}${variable} names no program` };
}

/** The first number with dots that a program says of itself. */
export function readVersion(command: string, ...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 60_000 });
  return /\d+\.\d+\.\d+(?:[-+.\w]*)?/.exec(`${stdout}\n${stderr}`)?.[0] ?? '';
}
