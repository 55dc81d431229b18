/** A clock that runs: how long something has been going on. All of a page share one timer. */
import { useSyncExternalStore } from 'react';
import { Duration } from './amounts.tsx';

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | null = null;

function tick(): void {
  nowMs = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(tick, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
}

/** Whole seconds, since it moves once in each. A clock of this machine that is behind shows none yet. */
export function RunningTime({ since }: { readonly since: string }) {
  const now = useSyncExternalStore(subscribe, () => nowMs);
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1_000));
  return (
    <span className="text-accent">
      <Duration ms={seconds * 1_000} />
    </span>
  );
}
