/** Costs over time: the drawing, and over it the choosing of a stretch of time by pointer or keyboard. */
import { type KeyboardEvent, lazy, type PointerEvent, Suspense, useMemo, useRef, useState } from 'react';
import { formatCount, formatMoney, formatSum } from '../../../../src/vocabulary/format-amounts.ts';
import type { Costs } from '../../api/costs.ts';
import { PLOT } from '../../components/plot-frame.ts';
import { Skeleton } from '../../components/states.tsx';
import type { TimeWindow } from '../../search/time-window.ts';
import { axisLabel, bucketWindow, fullLabel } from './bucket-label.ts';
import { CostLegend } from './cost-legend.tsx';
import { addUp, type BucketSums, barHeight, type CostSeries } from './cost-series.ts';
import type { Metric } from './costs-search.ts';

const BarDrawing = lazy(async () => ({ default: (await import('../../components/bar-drawing.tsx')).BarDrawing }));

/** A shorter way of the pointer is a click. */
const DRAG_PX = 6;

interface CostChartProps {
  readonly costs: Costs;
  readonly series: readonly CostSeries[];
  readonly metric: Metric;
  readonly only: string | undefined;
  readonly onOnly: (key: string | undefined) => void;
  readonly onZoom: (window: TimeWindow) => void;
}

/** A tick is a round number that the axis chose, not an amount of the records. */
function formatTick(metric: Metric): (value: number) => string {
  return metric === 'calls' ? formatCount : (value) => formatMoney(BigInt(Math.round(value * 1e12)));
}

function describeSums({ cost, calls, unpricedCalls }: BucketSums): string {
  return `${formatSum(cost, unpricedCalls)}, ${calls} ${calls === 1 ? 'call' : 'calls'}`;
}

interface Drag {
  readonly startPx: number;
  readonly first: number;
  readonly last: number;
  readonly isDragging: boolean;
}

function place(first: number, last: number, count: number) {
  const plot = `(100% - ${PLOT.left + PLOT.right}px)`;
  return {
    left: `calc(${PLOT.left}px + ${plot} * ${Math.min(first, last) / count})`,
    width: `calc(${plot} * ${(Math.abs(last - first) + 1) / count})`,
  };
}

export function CostChart({ costs, series, metric, only, onOnly, onZoom }: CostChartProps) {
  const { bucket_starts: starts, interval, tz } = costs;
  const [active, setActive] = useState<number | null>(null);
  const [drag, setDrag] = useState<Drag | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => {
    const isolated = series.filter(({ key }) => key === only);
    return isolated.length === 0 ? series : isolated;
  }, [series, only]);
  const labels = useMemo(() => starts.map((start) => axisLabel(start, interval, tz)), [starts, interval, tz]);
  const drawn = useMemo(
    () => shown.map(({ key, look, buckets }) => ({ key, look, heights: buckets.map((one) => barHeight(one, metric)) })),
    [shown, metric],
  );
  const tick = useMemo(() => formatTick(metric), [metric]);
  const last = starts.length - 1;
  const current = active === null || active > last ? null : active;
  const currentStart = current === null ? undefined : starts[current];
  const label = currentStart === undefined ? null : fullLabel(currentStart, interval, tz);
  const sums = addUp(shown.map(({ buckets, total }) => (current === null ? total : (buckets[current] ?? total))));

  const indexAt = (event: PointerEvent): number => {
    const box = frame.current?.getBoundingClientRect();
    if (box === undefined) return 0;
    const plotPx = Math.max(1, box.width - PLOT.left - PLOT.right);
    const index = Math.floor(((event.clientX - box.left - PLOT.left) / plotPx) * starts.length);
    return Math.max(0, Math.min(last, index));
  };
  const zoom = (a: number, b: number) => {
    setActive(null);
    onZoom(bucketWindow(costs, a, b));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step !== 0) setActive(Math.max(0, Math.min(last, (current ?? (step === 1 ? -1 : last + 1)) + step)));
    else if (event.key === 'Home') setActive(0);
    else if (event.key === 'End') setActive(last);
    else if (event.key === 'Enter' && current !== null) zoom(current, current);
    else if (event.key === 'Escape' && current !== null) setActive(null);
    else return;
    event.preventDefault();
  };
  const onPointerMove = (event: PointerEvent) => {
    const index = indexAt(event);
    setActive(index);
    if (drag === null) return;
    const isDragging = drag.isDragging || Math.abs(event.clientX - drag.startPx) > DRAG_PX;
    // Captured only now: before, the drawing must still see a click.
    if (isDragging && !drag.isDragging) event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ ...drag, last: index, isDragging });
  };
  return (
    <div className="flex gap-4 max-lg:flex-col">
      <div
        ref={frame}
        role="slider"
        tabIndex={0}
        aria-label={`${metric === 'cost' ? 'Cost' : 'Calls'} over time; arrows read, Enter shows only this part`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={current ?? 0}
        aria-valuetext={`${label ?? 'Entire time range'}: ${describeSums(sums)}`}
        className="relative h-80 min-w-0 touch-pan-y max-lg:w-full lg:flex-1 select-none"
        onKeyDown={onKeyDown}
        onBlur={() => setActive(null)}
        onPointerDown={(event) => {
          const index = indexAt(event);
          if (event.button === 0) setDrag({ startPx: event.clientX, first: index, last: index, isDragging: false });
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => {
          if (drag?.isDragging === true) zoom(drag.first, drag.last);
          setDrag(null);
        }}
        onPointerCancel={() => setDrag(null)}
        onPointerLeave={() => {
          setActive(null);
          setDrag((was) => (was?.isDragging === true ? was : null));
        }}
      >
        {current !== null && drag?.isDragging !== true && (
          <div className="absolute top-3 bottom-7 bg-raised" style={place(current, current, starts.length)} />
        )}
        <div className="absolute inset-0">
          <Suspense fallback={<Skeleton rows={6} label="Loading the drawing" />}>
            <BarDrawing
              labels={labels}
              series={drawn}
              formatTick={tick}
              onSeries={(key) => onOnly(toggle(key, only))}
            />
          </Suspense>
        </div>
        {drag?.isDragging === true && (
          <div
            className="pointer-events-none absolute top-3 bottom-7 border-x border-accent bg-accent/20"
            style={place(drag.first, drag.last, starts.length)}
          />
        )}
      </div>
      <CostLegend
        label={label}
        series={series}
        sums={sums}
        bucket={current}
        metric={metric}
        only={shown.length === series.length ? undefined : only}
        onOnly={(key) => onOnly(toggle(key, only))}
      />
    </div>
  );
}

function toggle(key: string, only: string | undefined): string | undefined {
  return key === only ? undefined : key;
}
