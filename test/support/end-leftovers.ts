/** Some agents leave a process of theirs running, which holds its folder and pipes after them. */
import { readdirSync, readFileSync } from 'node:fs';

/** Ends the processes whose home this folder is. Knows none where there is no `/proc`. */
export function endLeftovers(home: string): void {
  for (const pid of listProcesses()) {
    if (!readEnvironment(pid).includes(`HOME=${home}`)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

function listProcesses(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Empty for a process that is gone or somebody else's. */
function readEnvironment(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
