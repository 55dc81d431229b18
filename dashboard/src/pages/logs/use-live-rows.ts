/** The live tail of the Logs: a stream while the tab is seen, gathered so that a flood of calls draws a few times a second. */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { ListedLog } from '../../api/logs.ts';
import { type StreamState, useEvents } from '../../api/use-events.ts';
import { isRecord, parseJson } from '../../messages/json-reading.ts';
import { addLiveRows, type LiveRows, MAX_LIVE_ROWS, NO_LIVE_ROWS, showAll } from './live-rows.ts';

const GATHER_MS = 250;
const NAMES = ['log'] as const;

function subscribeToVisibility(onChange: () => void): () => void {
  document.addEventListener('visibilitychange', onChange);
  return () => document.removeEventListener('visibilitychange', onChange);
}

function useIsTabSeen(): boolean {
  return useSyncExternalStore(subscribeToVisibility, () => document.visibilityState === 'visible');
}

function isListedLog(value: unknown): value is ListedLog {
  return isRecord(value) && typeof value['id'] === 'string';
}

interface LiveTail {
  readonly live: LiveRows;
  readonly state: StreamState;
  readonly show: () => void;
  readonly clear: () => void;
}

/**
 * `path` null: off. `isHolding` says whether new calls would move what one reads. `onOpen`: the stream begins (again), so
 * what came in between must be asked for.
 */
export function useLiveRows(path: string | null, isHolding: () => boolean, onOpen: () => void): LiveTail {
  const isSeen = useIsTabSeen();
  const [live, setLive] = useState<LiveRows>(NO_LIVE_ROWS);
  const gathered = useRef<ListedLog[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const holds = useRef(isHolding);
  const opened = useRef(onOpen);
  useEffect(() => {
    holds.current = isHolding;
    opened.current = onOpen;
  });

  const onEvent = useCallback((_name: string, data: string) => {
    const row = parseJson(data);
    if (!isListedLog(row)) return;
    gathered.current.push(row);
    // A flood is cut here already: no more than can be kept.
    if (gathered.current.length > MAX_LIVE_ROWS + 1) gathered.current.shift();
    timer.current ??= setTimeout(() => {
      timer.current = null;
      const arrived = gathered.current;
      gathered.current = [];
      setLive((before) => addLiveRows(before, arrived, holds.current()));
    }, GATHER_MS);
  }, []);

  const state = useEvents(isSeen ? path : null, NAMES, onEvent);
  useEffect(() => {
    if (state === 'open') opened.current();
  }, [state]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question, other rows
  useEffect(() => {
    setLive(NO_LIVE_ROWS);
    return () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
      gathered.current = [];
    };
  }, [path]);
  return {
    live,
    state,
    show: useCallback(() => setLive(showAll), []),
    clear: useCallback(() => setLive(NO_LIVE_ROWS), []),
  };
}
