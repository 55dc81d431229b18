/** Node ends with 0 when nothing is left to wait for, also in the middle of a command: here that is a failure. */

/** Runs a command. A process that would end before it is done says so, and ends with 1. */
export async function untilSettled(command: () => Promise<void>): Promise<void> {
  // Not emitted where the command itself calls `process.exit`.
  const onIdle = (): void => {
    process.stderr.write('tollgate: the command ended before it was done: what it waited for is gone\n');
    process.exit(1);
  };
  process.once('beforeExit', onIdle);
  try {
    await command();
  } finally {
    process.off('beforeExit', onIdle);
  }
}
