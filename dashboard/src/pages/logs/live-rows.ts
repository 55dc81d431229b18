/**
 * The calls that came while one looks: shown on top, or held back while one reads further down. Their number is bounded:
 * beyond it the older calls are let go, and the page says so.
 */
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { ListedLog } from '../../api/logs.ts';
import { type StreamState, useEvents } from '../../api/use-events.ts';
import { isRecord, parseJson } from '../../messages/json-reading.ts';

export const MAX_LIVE_ROWS = 500;

export interface LiveRows {
  readonly shown: readonly ListedLog[];
  /** Newest first; newer than all that are shown. */
  readonly held: readonly ListedLog[];
  /** More came than are kept: there is a gap between these and the list. */
  readonly hasGap: boolean;
}

export const NO_LIVE_ROWS: LiveRows = { shown: [], held: [], hasGap: false };

/** `arrived` in the order of arrival. A call that is there already (a resumed stream) is not added again. */
export function addLiveRows(live: LiveRows, arrived: readonly ListedLog[], isHolding: boolean): LiveRows {
  const known = new Set([...live.held, ...live.shown].map(({ id }) => id));
  const fresh: ListedLog[] = [];
  for (const row of arrived) {
    if (known.has(row.id)) continue;
    known.add(row.id);
    fresh.unshift(row);
  }
  if (fresh.length === 0) return live;
  if (isHolding) {
    const held = [...fresh, ...live.held];
    return {
      shown: live.shown,
      held: held.slice(0, MAX_LIVE_ROWS),
      hasGap: live.hasGap || held.length > MAX_LIVE_ROWS,
    };
  }
  return showAll({ ...live, held: [...fresh, ...live.held] });
}

export function showAll({ shown, held, hasGap }: LiveRows): LiveRows {
  const all = [...held, ...shown];
  return { shown: all.slice(0, MAX_LIVE_ROWS), held: [], hasGap: hasGap || all.length > MAX_LIVE_ROWS };
}

/** What the table shows. With a gap only the live rows, so that nothing seems to follow what does not. */
export function joinRows(live: LiveRows, listed: readonly ListedLog[]): readonly ListedLog[] {
  if (live.hasGap) return live.shown;
  if (live.shown.length === 0) return listed;
  const known = new Set(listed.map(({ id }) => id));
  return [...live.shown.filter(({ id }) => !known.has(id)), ...listed];
}

/** Open calls on top, until they are in the list. */
export function joinOpenRows(open: readonly ListedLog[], rows: readonly ListedLog[]): readonly ListedLog[] {
  if (open.length === 0) return rows;
  const ended = new Set(rows.map(({ id }) => id));
  return [...open.filter(({ id }) => !ended.has(id)), ...rows];
}

/** `onEnded`: a call is open no more, so the list has it from now on. */
export function useOnEnded(open: readonly ListedLog[], onEnded: () => void): void {
  const before = useRef<readonly ListedLog[]>([]);
  useEffect(() => {
    const ids = new Set(open.map(({ id }) => id));
    const hasEnded = before.current.some(({ id }) => !ids.has(id));
    before.current = open;
    if (hasEnded) onEnded();
  });
}

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
