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
  readonly look: (names: readonly string[]) => Promise<Looked>;
}

export interface Looked {
  /** Those that may be read. */
  readonly settled: readonly string[];
  /** Others have files that are not read yet. */
  readonly isHolding: boolean;
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

  async function judge(name: string): Promise<'quiet' | 'changing' | 'empty'> {
    const process = await readProcess(join(spoolDir, name));
    if (process === null) return 'empty';
    const look = describe(process);
    const before = watched.get(name);
    if (before?.look !== look) {
      watched.set(name, { look, sinceMs: performance.now() });
      return quietMs === 0 ? 'quiet' : 'changing';
    }
    const quietForMs = performance.now() - before.sinceMs;
    if (quietForMs < quietMs) return 'changing';
    return quietForMs >= TORN_QUIET_MS || (await inspectProcess(process)).problems.length === 0 ? 'quiet' : 'changing';
  }

  return {
    know: (names) => {
      for (const name of names) (known ?? early).add(name);
    },
    look: async (names) => {
      known ??= new Set([...early, ...names]);
      const settled: string[] = [];
      let isHolding = false;
      for (const name of names) {
        const judged = known.has(name) ? 'known' : await judge(name).catch(() => 'changing' as const);
        if (judged === 'changing') isHolding = true;
        if (judged === 'changing' || judged === 'empty') continue;
        known.add(name);
        watched.delete(name);
        settled.push(name);
      }
      return { settled, isHolding };
    },
  };
}

function describe({ files }: FoundProcess): string {
  return files.map(({ name, bytes, changedMs }) => `${name} ${bytes} ${changedMs}`).join('\n');
}
