/** Holds back process directories copied into the spool until nothing in them has changed for a while. */
import { join } from 'node:path';
import { type FoundProcess, inspectProcess, readProcess } from './inspect-spool.ts';

/** For a copy without visible gaps. */
export const FOREIGN_QUIET_MS = 15_000;
/** For one that ends in the middle of a record. */
const TORN_QUIET_MS = 300_000;

export interface ForeignDirectories {
  /** Names that may be read at once. */
  readonly know: (names: Iterable<string>) => void;
  /** Returns the names that may be read. */
  readonly settled: (names: readonly string[]) => Promise<readonly string[]>;
}

interface Watched {
  readonly look: string;
  readonly sinceMs: number;
}

export function watchForeignDirectories(spoolDir: string, quietMs: number): ForeignDirectories {
  /** Null before the first look, at which everything present counts as known. */
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
