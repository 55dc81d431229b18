/**
 * Process directories that appear in the spool without a process of this gateway: somebody puts those of another node
 * there, and may take their time. Such a one is left alone until nothing in it has changed for a while, and longer when
 * its files end in the middle of a record. Not what comes by `receive-package.ts`, which is whole.
 */
import { join } from 'node:path';
import { type FoundProcess, inspectProcess, readProcess } from './inspect-spool.ts';

/** For a copy that is whole as far as can be seen. */
export const FOREIGN_QUIET_MS = 15_000;
/** For one that is not, or whose last record a power cut has torn. */
const TORN_QUIET_MS = 300_000;

export interface ForeignDirectories {
  /** Those of processes of this gateway, and those that came whole. */
  readonly know: (names: Iterable<string>) => void;
  /** Those among the names that may be read. */
  readonly settled: (names: readonly string[]) => Promise<readonly string[]>;
}

interface Watched {
  readonly look: string;
  readonly sinceMs: number;
}

export function watchForeignDirectories(spoolDir: string, quietMs: number): ForeignDirectories {
  /** Null before the first look: what is there at a start was left by a process of before. */
  let known: Set<string> | null = null;
  const early = new Set<string>();
  const watched = new Map<string, Watched>();

  async function isQuiet(name: string): Promise<boolean> {
    const process = await readProcess(join(spoolDir, name));
    if (process === null) return false;
    const look = describe(process);
    const before = watched.get(name);
    if (before?.look !== look) {
      watched.set(name, { look, sinceMs: performance.now() });
      return quietMs === 0;
    }
    const quietForMs = performance.now() - before.sinceMs;
    if (quietForMs < quietMs) return false;
    return quietForMs >= TORN_QUIET_MS || (await inspectProcess(process)).problems.length === 0;
  }

  return {
    know: (names) => {
      for (const name of names) (known ?? early).add(name);
    },
    settled: async (names) => {
      known ??= new Set([...early, ...names]);
      const settled: string[] = [];
      for (const name of names) {
        if (known.has(name)) settled.push(name);
        else if (await isQuiet(name).catch(() => false)) {
          known.add(name);
          watched.delete(name);
          settled.push(name);
        }
      }
      return settled;
    },
  };
}

function describe({ files }: FoundProcess): string {
  return files.map(({ name, bytes, changedMs }) => `${name} ${bytes} ${changedMs}`).join('\n');
}
