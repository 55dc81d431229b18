/** The body of a backup, as fast as the client takes it. What ends early breaks off, never ends well. */

/** A client that takes nothing for so long holds a snapshot of the database for nothing. */
const STALL_LIMIT_MS = 120_000;

export interface BackupStreamOptions {
  /** What was read before the answer began. */
  readonly first: IteratorResult<Buffer>;
  readonly packed: AsyncGenerator<Buffer>;
  /** Breaks the client's connection off. */
  readonly destroy: () => void;
  /** Once, when it is over; with what went wrong, if anything did, and the bytes handed on. */
  readonly onEnd: (failure: unknown, bytes: number) => void;
}

export function createBackupStream({ first, packed, destroy, onEnd }: BackupStreamOptions): ReadableStream<Uint8Array> {
  // Read and not yet handed on; null before the next is read.
  let waiting: IteratorResult<Buffer> | null = first;
  let bytes = 0;
  let stall: NodeJS.Timeout | undefined;
  let isOver = false;

  function finish(failure: unknown): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(stall);
    // What it says about its own end is of no use any more.
    packed.return(undefined).catch(() => {});
    onEnd(failure, bytes);
  }

  /** The connection itself: of a stream that merely fails, the server would end the answer well. */
  function breakOff(failure: unknown): void {
    if (isOver) return;
    finish(failure);
    destroy();
  }

  function awaitReader(): void {
    stall = setTimeout(() => breakOff(new Error('the client of a backup takes nothing')), STALL_LIMIT_MS);
    stall.unref();
  }

  return new ReadableStream<Uint8Array>({
    start: awaitReader,
    async pull(controller) {
      if (isOver) return;
      clearTimeout(stall);
      try {
        const next = waiting ?? (await packed.next());
        waiting = null;
        if (isOver) return;
        if (next.done === true) {
          finish(null);
          controller.close();
          return;
        }
        bytes += next.value.length;
        controller.enqueue(next.value);
        awaitReader();
      } catch (error) {
        breakOff(error);
      }
    },
    cancel: () => finish(new Error('the client of a backup went away')),
  });
}
