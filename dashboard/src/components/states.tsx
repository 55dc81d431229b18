/** What a data area shows while there is nothing, not yet, or no answer. */
import { CircleAlert, RotateCw } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { ApiError } from '../api/client.ts';
import { Button } from './buttons.tsx';

/** Quick answers should not flash a skeleton. */
const SKELETON_DELAY_MS = 150;

export function Skeleton({
  rows = 8,
  label = 'Loading',
}: {
  readonly rows?: number | undefined;
  readonly label?: string;
}) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SKELETON_DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2 p-4">
      {isShown &&
        Array.from({ length: rows }, (_, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike
            key={index}
            className="h-6 animate-pulse rounded bg-raised"
            style={{ width: `${92 - (index % 4) * 9}%` }}
          />
        ))}
    </div>
  );
}

interface EmptyStateProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div className="mx-auto flex max-w-xl flex-col items-center gap-3 px-6 py-14 text-center">
      <h2 className="text-base font-semibold">{title}</h2>
      {children !== undefined && <div className="text-ink-soft">{children}</div>}
      {actions !== undefined && <div className="flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}

interface ErrorStateProps {
  readonly error: unknown;
  readonly what: string;
  readonly onRetry?: () => void;
}

export function ErrorState({ error, what, onRetry }: ErrorStateProps) {
  const message = error instanceof Error ? error.message : String(error);
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <div role="alert" className="m-4 flex flex-wrap items-start gap-3 rounded-lg border border-bad/50 bg-bad-soft p-4">
      <CircleAlert size={18} aria-hidden className="mt-0.5 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">Could not load {what}.</p>
        <p className="break-words text-ink-soft">{message}</p>
        {requestId !== null && <p className="mt-1 font-mono text-xs text-ink-soft">request {requestId}</p>}
      </div>
      {onRetry !== undefined && (
        <Button onClick={onRetry}>
          <RotateCw size={15} aria-hidden /> Try again
        </Button>
      )}
    </div>
  );
}

/** Why an action failed; nothing without a message. */
export function Problem({
  message,
  className = '',
}: {
  readonly message: string | null | undefined;
  readonly className?: string;
}) {
  if (message === null || message === undefined) return null;
  return (
    <p role="alert" className={`text-bad [overflow-wrap:anywhere] ${className}`}>
      {message}
    </p>
  );
}

interface PendingProps {
  readonly query: { readonly error: unknown; readonly refetch: () => unknown };
  /** What is asked for, e.g. `the runs`. */
  readonly what: string;
  readonly rows?: number | undefined;
}

/** In the place of data that is not there yet: that it loads, or why it cannot. */
export function Pending({ query: { error, refetch }, what, rows }: PendingProps) {
  if (error !== null) return <ErrorState error={error} what={what} onRetry={() => void refetch()} />;
  return <Skeleton rows={rows} label={`Loading ${what}`} />;
}

/** A line above data that is older than it should be. */
export function StaleNote({ children }: { readonly children: ReactNode }) {
  return (
    <p role="status" className="border-b border-line bg-warn-soft px-4 py-1.5 text-sm text-warn">
      {children}
    </p>
  );
}
