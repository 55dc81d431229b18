/** What has to be done as a whole, such as a key made and where it is noted: an end that is asked for meanwhile comes behind it. */

const HELD: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export async function holdSignals<T>(work: () => Promise<T>): Promise<T> {
  let held: NodeJS.Signals | null = null;
  const hold = (signal: NodeJS.Signals): void => {
    held = signal;
  };
  for (const signal of HELD) process.on(signal, hold);
  try {
    return await work();
  } finally {
    for (const signal of HELD) process.off(signal, hold);
    if (held !== null) process.kill(process.pid, held);
  }
}
