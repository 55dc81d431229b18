/**
 * The bar of a row of the waterfall. On the time axis a step's bar is hatched where none of its calls was active, and
 * darker where several were; on the cost axis width is money, and children lie within their parent.
 */
import { seriesLook } from '../../components/series-look.ts';
import { CALL, isCallRow, OPEN, type RunTable, textAt } from './model/run-table.ts';
import { ACTIVE, IDLE, listSegments, PARALLEL, PROFILE_PARTS } from './model/time-profile.ts';
import type { Axis, Colouring } from './run-search.ts';

export interface RowBarProps {
  readonly table: RunTable;
  readonly row: number;
  readonly axis: Axis;
  readonly colouring: Colouring;
  /** Cost of the costliest call, in millionths of the run's: for colouring by cost. */
  readonly costliestShare: number;
}

const percent = (share: number) => `${(share * 100).toFixed(3)}%`;

function shareOf(ms: number, lengthMs: number): number {
  return lengthMs <= 0 ? 0 : Math.max(0, Math.min(1, ms / lengthMs));
}

function costShare(table: RunTable, row: number): number {
  return (table.costBefore[table.end[row] ?? row + 1] ?? 0) - (table.costBefore[row] ?? 0);
}

function callColour({ table, row, colouring, costliestShare }: RowBarProps): string {
  if (colouring === 'model') return `var(${seriesLook(textAt(table, table.model, row) ?? '').colour})`;
  if (colouring === 'cost') {
    const heat = costliestShare === 0 ? 0 : Math.round((costShare(table, row) / costliestShare) * 100);
    return `color-mix(in oklch, var(--accent) ${heat}%, var(--bar-soft))`;
  }
  if ((table.errors[row] ?? 0) > 0) return 'var(--bad)';
  return textAt(table, table.outcome, row) === 'ok' ? 'var(--bar)' : 'var(--warn)';
}

/** One path for all segments of a kind: few elements, however many segments. */
function pathOf(parts: Uint8Array, kind: number): string {
  return listSegments(parts)
    .filter((segment) => segment.kind === kind)
    .map(({ from, to }) => `M${from} 0H${to}V1H${from}Z`)
    .join('');
}

function StepBar({ table, row }: RowBarProps) {
  const slot = (table.slot[row] ?? 0) * PROFILE_PARTS;
  const parts = table.profiles.subarray(slot, slot + PROFILE_PARTS);
  const left = shareOf(table.startMs[row] ?? 0, table.lengthMs);
  const right = shareOf(table.endMs[row] ?? 0, table.lengthMs);
  return (
    <div
      className={`absolute inset-y-[28%] min-w-0.5 overflow-hidden rounded-xs ${parts.includes(IDLE) ? 'hatched' : ''}`}
      style={{ left: percent(left), width: percent(right - left) }}
    >
      <svg className="block size-full" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        <path d={pathOf(parts, ACTIVE)} fill="var(--bar-soft)" />
        <path d={pathOf(parts, PARALLEL)} fill="var(--bar)" />
      </svg>
    </div>
  );
}

function CallBar(props: RowBarProps) {
  const { table, row } = props;
  const left = shareOf(table.startMs[row] ?? 0, table.lengthMs);
  const right = shareOf(table.endMs[row] ?? 0, table.lengthMs);
  const firstTokenMs = table.firstTokenMs[row] ?? Number.NaN;
  const durationMs = table.durationMs[row] ?? Number.NaN;
  // Until the first token the provider reads and thinks; after it the answer flows.
  const waiting = firstTokenMs > 0 && durationMs > 0 ? Math.min(1, firstTokenMs / durationMs) : 0;
  const colour = callColour(props);
  return (
    <div
      className="absolute inset-y-[20%] flex min-w-0.5 overflow-hidden rounded-xs"
      style={{ left: percent(Math.min(left, 0.998)), width: percent(right - left) }}
    >
      {waiting > 0 && <div className="opacity-45" style={{ width: percent(waiting), background: colour }} />}
      <div className="flex-1" style={{ background: colour }} />
      {(table.errors[row] ?? 0) > 0 && <div className="w-0.5 shrink-0 bg-bad" />}
    </div>
  );
}

function OpenBar({ table, row }: RowBarProps) {
  const left = Math.min(shareOf(table.startMs[row] ?? 0, table.lengthMs), 0.98);
  return (
    <div
      className="absolute inset-y-[20%] rounded-xs border border-dashed border-accent bg-accent-soft"
      style={{ left: percent(left), right: 0 }}
    />
  );
}

function CostBar(props: RowBarProps) {
  const { table, row } = props;
  const isCall = isCallRow(table, row);
  return (
    <div
      className={`absolute min-w-px rounded-xs ${isCall ? 'inset-y-[20%]' : 'inset-y-[28%]'}`}
      style={{
        left: percent(table.costBefore[row] ?? 0),
        width: percent(costShare(table, row)),
        background: isCall ? callColour(props) : 'var(--bar-soft)',
      }}
    />
  );
}

export function RowBar(props: RowBarProps) {
  const kind = props.table.kind[props.row];
  if (props.axis === 'cost') return <CostBar {...props} />;
  if (kind === OPEN) return <OpenBar {...props} />;
  return kind === CALL ? <CallBar {...props} /> : <StepBar {...props} />;
}

/** The largest share of the run's cost that one call has. */
export function findCostliestShare(table: RunTable): number {
  let most = 0;
  for (let row = 0; row < table.count; row += 1)
    if (table.kind[row] === CALL) most = Math.max(most, costShare(table, row));
  return most;
}
