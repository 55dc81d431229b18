/** The page's end of the worker: starts it, sends it bytes and events, hands on the tables that it makes. */
import type { RunTable } from './model/run-table.ts';

export interface LoadedPage {
  readonly nextCursor: string | null;
  readonly position: string;
}

export interface TreeWorker {
  /** The bytes change hands. Resolves when they are read; one page at a time. */
  readonly addPage: (bytes: ArrayBuffer) => Promise<LoadedPage>;
  readonly addEvent: (name: string, data: string) => void;
  readonly setFolded: (isFolded: boolean) => void;
  readonly close: () => void;
}

interface Listeners {
  readonly onTable: (table: RunTable) => void;
  readonly onError: (error: unknown) => void;
}

export function createTreeWorker({ onTable, onError }: Listeners): TreeWorker {
  const worker = new Worker(new URL('./tree-worker.ts', import.meta.url), { type: 'module' });
  let waiting: PromiseWithResolvers<LoadedPage> | null = null;
  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = null;
    onError(error);
  };
  worker.onmessage = ({ data }: MessageEvent<FromTreeWorker>) => {
    if (data.type === 'table') onTable(data.table);
    else if (data.type === 'page') {
      waiting?.resolve({ nextCursor: data.nextCursor, position: data.position });
      waiting = null;
    } else fail(new Error(data.message));
  };
  worker.onerror = (event) => fail(new Error(event.message || 'the worker that builds the tree could not start'));
  const send = (message: ToTreeWorker, transfer: Transferable[] = []) => worker.postMessage(message, transfer);
  return {
    addPage: (bytes) => {
      waiting = Promise.withResolvers<LoadedPage>();
      send({ type: 'page', bytes }, [bytes]);
      return waiting.promise;
    },
    addEvent: (name, data) => send({ type: 'event', name, data }),
    setFolded: (isFolded) => send({ type: 'fold', isFolded }),
    close: () => {
      worker.onmessage = null;
      worker.terminate();
    },
  };
}

export type ToTreeWorker =
  /** Bytes of an answer of `/run/calls`: parsing them is the worker's work too. */
  | { readonly type: 'page'; readonly bytes: ArrayBuffer }
  /** An event of `/run/stream`. */
  | { readonly type: 'event'; readonly name: string; readonly data: string }
  | { readonly type: 'fold'; readonly isFolded: boolean };

export type FromTreeWorker =
  | { readonly type: 'page'; readonly nextCursor: string | null; readonly position: string }
  | { readonly type: 'table'; readonly table: RunTable }
  | { readonly type: 'failed'; readonly message: string };
