/** What the page and its worker say to each other. Types only. */
import type { RunTable } from './model/run-table.ts';

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
