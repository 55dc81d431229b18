/** The body of an export: the rows of a cursor as text, as fast as the client reads. What ends early breaks off, never ends well. */
import type { RowCursor } from '../runs/open-row-cursor.ts';
import type { SqlRow } from '../runs/run-sql.ts';

/** A client that reads nothing for so long holds a connection to the database for nothing. */
const STALL_LIMIT_MS = 60_000;

export interface ExportStreamOptions {
  readonly head: string;
  /** The first piece, which was read before the answer began. */
  readonly first: readonly SqlRow[];
  readonly cursor: RowCursor;
  readonly toLines: (rows: readonly SqlRow[]) => string;
  /** Breaks the client's connection off. */
  readonly destroy: () => void;
  /** Once, when it is over; with what went wrong, if anything did. */
  readonly onEnd: (failure: unknown) => void;
}

export function createExportStream({
  head,
  first,
  cursor,
  toLines,
  destroy,
  onEnd,
}: ExportStreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  // Read and not yet handed on; null before the next is read.
  let waiting: readonly SqlRow[] | null = first;
  let stall: NodeJS.Timeout | undefined;
  let isOver = false;

  function finish(failure: unknown): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(stall);
    cursor.close();
    onEnd(failure);
  }

  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (head !== '') controller.enqueue(encoder.encode(head));
      awaitReader();
    },
    async pull(controller) {
      if (isOver) return;
      clearTimeout(stall);
      try {
        const rows = waiting ?? (await cursor.next());
        waiting = null;
        if (isOver) return;
        if (rows.length === 0) {
          finish(null);
          controller.close();
          return;
        }
        controller.enqueue(encoder.encode(toLines(rows)));
        awaitReader();
      } catch (error) {
        breakOff(error);
      }
    },
    cancel: () => finish(null),
  });

  function awaitReader(): void {
    stall = setTimeout(() => breakOff(new Error('the client of an export reads nothing')), STALL_LIMIT_MS);
    stall.unref();
  }

  /**
   * So that the client cannot take what it has for the whole. The connection itself: of a stream that merely fails, the
   * server would send the reason as more of the body, and end it well.
   */
  function breakOff(failure: unknown): void {
    if (isOver) return;
    finish(failure);
    destroy();
  }
}
