/** Tells a server that refuses connections and works from one that hangs: one that was killed may never come to its end. */
import { readdirSync, readFileSync } from 'node:fs';
import { readErrorCode } from '../../vocabulary/errors.ts';
import { readStatFields } from '../process-identity.ts';

const CANNOT_CONNECT_NOW = '57P03';
/** Processes whose work ends a recovery. */
const RECOVERING = /^postgres: (?:startup|checkpointer)\b/;

export function isShuttingDown(error: unknown): boolean {
  return isRefusal(error) && error instanceof Error && /shutting down/.test(error.message);
}

/** It starts, or recovers from a crash. */
export function isRecovering(error: unknown): boolean {
  return isRefusal(error) && !isShuttingDown(error);
}

function isRefusal(error: unknown): boolean {
  return readErrorCode(error) === CANNOT_CONNECT_NOW;
}

/**
 * Text that stays the same while a server that refused with `error` does nothing: two equal ones, a while apart, are a
 * standstill. Null when the server did not refuse, or where there is no /proc to look at.
 */
export function readStandstill(error: unknown, postmaster: number): string | null {
  if (process.platform !== 'linux' || !isRefusal(error)) return null;
  return isShuttingDown(error) ? 'shutting down' : `recovering ${listWork(postmaster).sort().join(' ')}`;
}

/** The processor time of each process that recovers, `PID:TICKS`. */
function listWork(postmaster: number): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const fields = readStatFields(pid);
        if (
          fields === null ||
          Number(fields[1]) !== postmaster ||
          !RECOVERING.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
        )
          return [];
        return [`${pid}:${Number(fields[11]) + Number(fields[12])}`];
      } catch {
        return []; // It has just ended.
      }
    });
}
