/** Bars over time above a list: one figure a bucket, the share with errors marked. Dragging or the keyboard chooses a window. */
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import { usePreferences } from '../preferences.tsx';

export interface HistogramBucket {
  /** RFC 3339. */
  readonly start: string;
  /** Height of the bar. A drawing may use floats; figures never come from here. */
  readonly value: number;
  readonly errorShare: number;
  /** What the bar says on hover and to screen readers. */
  readonly label: string;
}

interface HistogramProps {
  readonly label: string;
  readonly buckets: readonly HistogramBucket[];
  readonly bucketMs: number;
  readonly onSelect: (from: string, to: string) => void;
}

const HEIGHT_PX = 44;

function endOf(start: string, bucketMs: number): string {
  return new Date(Date.parse(start) + bucketMs).toISOString();
}

export function Histogram({ label, buckets, bucketMs, onSelect }: HistogramProps) {
  const { timeZone } = usePreferences();
  const frame = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<{ readonly start: number; readonly end: number } | null>(null);
  /** The bucket under the pointer or chosen by the keyboard; null while nobody points. */
  const [pointed, setPointed] = useState<number | null>(null);
  const active = pointed ?? 0;
  if (buckets.length === 0) return null;
  const highest = Math.max(...buckets.map(({ value }) => value), Number.MIN_VALUE);
  const width = 100 / buckets.length;
  const format = (iso: string) =>
    new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23' }).format(
      new Date(iso),
    );

  const indexAt = (event: PointerEvent): number => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined || box.width === 0) return 0;
    const index = Math.floor(((event.clientX - box.left) / box.width) * buckets.length);
    return Math.max(0, Math.min(buckets.length - 1, index));
  };
  const select = (a: number, b: number) => {
    const first = buckets[Math.min(a, b)];
    const last = buckets[Math.max(a, b)];
    if (first !== undefined && last !== undefined) onSelect(first.start, endOf(last.start, bucketMs));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step !== 0) setPointed(Math.max(0, Math.min(buckets.length - 1, active + step)));
    else if (event.key === 'Enter') select(active, active);
    else return;
    event.preventDefault();
  };
  const first = buckets[0]?.start ?? '';
  const last = buckets.at(-1)?.start ?? '';
  const announced = buckets[active];
  const current = pointed === null ? undefined : buckets[pointed];
  return (
    <div className="px-4 pb-3">
      <div
        ref={frame}
        role="slider"
        tabIndex={0}
        aria-label={`${label}; Enter shows only this part`}
        aria-valuemin={0}
        aria-valuemax={buckets.length - 1}
        aria-valuenow={Math.min(active, buckets.length - 1)}
        aria-valuetext={announced === undefined ? '' : `${format(announced.start)}: ${announced.label}`}
        className="relative touch-none select-none"
        style={{ height: HEIGHT_PX }}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const index = indexAt(event);
          setDrag({ start: index, end: index });
        }}
        onPointerMove={(event) => {
          const index = indexAt(event);
          setPointed(index);
          if (drag !== null) setDrag({ ...drag, end: index });
        }}
        onPointerUp={() => {
          if (drag !== null) select(drag.start, drag.end);
          setDrag(null);
        }}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => {
          if (drag === null) setPointed(null);
        }}
        onFocus={() => setPointed(active)}
        onBlur={() => setPointed(null)}
      >
        <svg
          aria-hidden="true"
          width="100%"
          height={HEIGHT_PX}
          viewBox={`0 0 100 ${HEIGHT_PX}`}
          preserveAspectRatio="none"
        >
          {buckets.map(({ start, value, errorShare }, index) => {
            const height = value === 0 ? 0 : Math.max(1.5, (value / highest) * HEIGHT_PX);
            const x = index * width + width * 0.08;
            return (
              <g key={start} fill={index === pointed ? 'var(--accent)' : 'var(--bar)'}>
                <rect x={x} y={HEIGHT_PX - height} width={width * 0.84} height={height} />
                {errorShare > 0 && (
                  <rect
                    x={x}
                    y={HEIGHT_PX - Math.max(2, height * errorShare)}
                    width={width * 0.84}
                    height={Math.max(2, height * errorShare)}
                    fill="var(--bad)"
                  />
                )}
              </g>
            );
          })}
          <line x1="0" x2="100" y1={HEIGHT_PX - 0.5} y2={HEIGHT_PX - 0.5} stroke="var(--line)" />
        </svg>
        {drag !== null && (
          <div
            className="absolute inset-y-0 border-x border-accent bg-accent/20"
            style={{
              left: `${Math.min(drag.start, drag.end) * width}%`,
              width: `${(Math.abs(drag.end - drag.start) + 1) * width}%`,
            }}
          />
        )}
      </div>
      <div className="num mt-1 flex justify-between text-xs text-ink-faint">
        <span>{format(first)}</span>
        <span className="text-ink-soft max-sm:hidden">
          {current !== undefined && `${format(current.start)}: ${current.label}`}
        </span>
        <span>{format(endOf(last, bucketMs))}</span>
      </div>
    </div>
  );
}
