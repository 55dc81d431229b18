/** Sums that cover a part of the window: since when they do, and a button that gives the next answer more time. */
import { useState } from 'react';
import { Button } from './buttons.tsx';
import { Timestamp } from './timestamp.tsx';

/** In milliseconds; the last is the most that the API takes. */
const WAITS_MS = [undefined, 2_000, 15_000] as const;

interface Patience {
  readonly waitMs: number | undefined;
  /** Null when there is no longer time to give. */
  readonly onContinue: (() => void) | null;
}

/** Another question begins with the usual time. */
export function usePatience(question: unknown): Patience {
  const asked = JSON.stringify(question);
  const [{ of, step }, setState] = useState({ of: asked, step: 0 });
  const now = of === asked ? step : 0;
  return {
    waitMs: WAITS_MS[now],
    onContinue: now + 1 < WAITS_MS.length ? () => setState({ of: asked, step: now + 1 }) : null,
  };
}

interface SumsSinceProps {
  readonly what: 'Sums over calls' | 'Sums over runs' | 'Numbers of runs';
  /** RFC 3339; null when the sums cover the window. */
  readonly at: string | null;
  readonly isFetching: boolean;
  readonly onContinue: (() => void) | null;
}

export function SumsSince({ what, at, isFetching, onContinue }: SumsSinceProps) {
  if (at === null) return null;
  return (
    <p role="status" className="flex flex-wrap items-center gap-3 px-4 pb-3 text-sm text-ink-soft">
      <span>
        {what} since <Timestamp at={at} /> only
      </span>
      {onContinue !== null && (
        <Button disabled={isFetching} onClick={onContinue}>
          {isFetching ? 'Adding up…' : 'Continue'}
        </Button>
      )}
    </p>
  );
}
