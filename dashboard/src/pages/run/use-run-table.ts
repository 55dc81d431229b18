/**
 * The calls of a run as a table that keeps itself up to date: pages first, then the stream from where they ended. Fetching
 * is done here, parsing and building in the worker.
 */
import { useCallback, useEffect, useRef, useState } from 'react';
import { apiPath, getBytes } from '../../api/client.ts';
import { type StreamState, useEvents } from '../../api/use-events.ts';
import { createTreeWorker, type TreeWorker } from './create-tree-worker.ts';
import type { RunTable } from './model/run-table.ts';

const PAGE_CALLS = 20_000;
/** More than this and the page says that it shows only so many. */
export const MAX_LOADED_CALLS = 100_000;

export interface LoadedRun {
  readonly table: RunTable | null;
  readonly isComplete: boolean;
  readonly isCut: boolean;
  readonly error: unknown;
  readonly stream: StreamState;
  readonly retry: () => void;
}

interface Loading {
  readonly isComplete: boolean;
  readonly isCut: boolean;
  /** Where the stream goes on; null until it is known. */
  readonly position: string | null;
  readonly error: unknown;
}

const BEGUN: Loading = { isComplete: false, isCut: false, position: null, error: null };
const EVENTS = ['calls', 'open'] as const;

/** All pages one after another into the worker; answers where the stream goes on. */
async function loadPages(
  trace: string,
  worker: TreeWorker,
  signal: AbortSignal,
): Promise<Pick<Loading, 'isCut' | 'position'>> {
  let cursor: string | null = null;
  let position: string | null = null;
  for (let loaded = 0; loaded < MAX_LOADED_CALLS; loaded += PAGE_CALLS) {
    const answer: Response = await getBytes(
      '/run/calls',
      { trace_id: trace, columns: true, limit: PAGE_CALLS, cursor },
      signal,
    );
    const page = await worker.addPage(await answer.arrayBuffer());
    // What came while later pages were read must not be missed.
    position ??= page.position;
    cursor = page.nextCursor;
    if (cursor === null) return { isCut: false, position };
  }
  return { isCut: true, position };
}

export function useRunTable(trace: string, isFolded: boolean): LoadedRun {
  const [table, setTable] = useState<RunTable | null>(null);
  const [loading, setLoading] = useState<Loading>(BEGUN);
  const [attempt, setAttempt] = useState(0);
  const worker = useRef<TreeWorker | null>(null);
  const folding = useRef(isFolded);

  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` starts all over again
  useEffect(() => {
    const abort = new AbortController();
    const fail = (error: unknown) => {
      if (!abort.signal.aborted) setLoading((before) => ({ ...before, error }));
    };
    const created = createTreeWorker({ onTable: setTable, onError: fail });
    worker.current = created;
    created.setFolded(folding.current);
    setTable(null);
    setLoading(BEGUN);
    loadPages(trace, created, abort.signal).then(
      (result) => setLoading({ ...result, isComplete: !result.isCut, error: null }),
      fail,
    );
    return () => {
      abort.abort();
      created.close();
    };
  }, [trace, attempt]);

  useEffect(() => {
    folding.current = isFolded;
    worker.current?.setFolded(isFolded);
  }, [isFolded]);

  const { position } = loading;
  const stream = useEvents(
    position === null ? null : apiPath('/run/stream', { trace_id: trace, after: position }),
    EVENTS,
    (name, data) => {
      // The connection's own event has the name of one of ours, but no data.
      if (typeof data === 'string') worker.current?.addEvent(name, data);
    },
  );
  const retry = useCallback(() => setAttempt((count) => count + 1), []);
  return { table, isComplete: loading.isComplete, isCut: loading.isCut, error: loading.error, stream, retry };
}
