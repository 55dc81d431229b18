/** One row of the waterfall: a step, a fold of repeats, a call, or a call that is still open. */
import { CircleAlert, CircleDashed, Repeat2 } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { formatUsd } from '../../../../src/vocabulary/usd.ts';
import { BarredCost, Duration, Tokens } from '../../components/amounts.tsx';
import { OUTCOMES } from '../../components/badges.tsx';
import { FOLD, isCallRow, nameAt, numberAt, OPEN, type RunTable, textAt, tokensAt } from './model/run-table.ts';
import { RowBar } from './row-bar.tsx';
import type { Axis, Colouring } from './run-search.ts';
import { TableCallCost } from './table-call-cost.tsx';

export interface RowLook {
  readonly trace: string;
  readonly axis: Axis;
  readonly colouring: Colouring;
  readonly isSelfCost: boolean;
  readonly costliestShare: number;
  readonly layout: RowLayout;
}

/** `narrow`: name and cost, the bar beneath; `short`: beside an open panel. */
export type RowLayout = 'wide' | 'short' | 'narrow';

export const ROW_TEMPLATES: Readonly<Record<RowLayout, string>> = {
  wide: 'minmax(15rem, 26rem) 7rem 11.5rem 5.5rem minmax(10rem, 1fr)',
  short: 'minmax(12rem, 1fr) 6.5rem 5rem minmax(7rem, 0.6fr)',
  narrow: 'minmax(0, 1fr) auto',
};

const INDENT_REM = 0.9;
/** Deeper levels are told by `aria-level` and the keys; indenting them all would push the names out of sight. */
const MAX_INDENTS = 12;

interface TreeRowProps {
  readonly table: RunTable;
  readonly row: number;
  readonly look: RowLook;
  readonly isOpen: boolean;
  readonly isMatch: boolean;
  readonly onToggle: (row: number) => void;
}

function indentOf(table: RunTable, row: number, layout: RowLayout): string {
  const depth = Math.min(table.depth[row] ?? 0, layout === 'narrow' ? MAX_INDENTS / 2 : MAX_INDENTS);
  return `${depth * (layout === 'narrow' ? INDENT_REM * 0.6 : INDENT_REM)}rem`;
}

function Chip({ title, className = '', children }: { title: string; className?: string; children: ReactNode }) {
  return (
    <span title={title} className={`num shrink-0 text-xs ${className}`}>
      {children}
    </span>
  );
}

function StepName({ table, row, look, isOpen, isMatch, onToggle }: TreeRowProps) {
  const { trace } = look;
  const isFold = table.kind[row] === FOLD;
  const name = row === 0 ? trace : nameAt(table, row) || '(numbered)';
  const errors = table.errors[row] ?? 0;
  const parallel = table.maxParallel[row] ?? 0;
  const open = table.openCalls[row] ?? 0;
  const model = isFold ? textAt(table, table.model, row) : null;
  // The members of a fold of steps are steps; the ×n beside it counts them, as people do.
  const members = isFold ? (table.setSize[row + 1] ?? 0) : (table.calls[row] ?? 0);
  return (
    <>
      {/* The keyboard opens with the arrows, so the chevron is for the mouse alone. */}
      <button
        type="button"
        tabIndex={-1}
        aria-hidden="true"
        className="flex h-6 w-5 shrink-0 items-center justify-center text-ink-faint hover:text-ink"
        onClick={(event) => {
          event.stopPropagation();
          onToggle(row);
        }}
      >
        {/* A character, not an icon: there is one in every row of a long list. */}
        {isOpen ? '▾' : '▸'}
      </button>
      {isFold && <Repeat2 size={13} aria-label="repeated" className="shrink-0 text-ink-faint" />}
      <span
        title={name}
        className={`truncate font-medium ${row === 0 ? 'font-mono text-xs' : ''} ${isMatch ? 'bg-warn-soft text-warn' : ''}`}
      >
        {name}
      </span>
      <Chip className="text-ink-faint" title={`${members.toLocaleString('en-US')} ${isFold ? 'repeats' : 'calls'}`}>
        ×{members.toLocaleString('en-US')}
      </Chip>
      {model !== null && <span className="shrink-[9] truncate text-xs text-ink-faint">{model}</span>}
      {parallel > 1 && (
        <Chip className="text-ink-soft" title={`Up to ${parallel} calls at once`}>
          ∥{parallel}
        </Chip>
      )}
      {errors > 0 && (
        <Chip className="inline-flex items-center gap-0.5 text-bad" title={`${errors} failed calls`}>
          <CircleAlert size={12} aria-label="errors" />
          {errors}
        </Chip>
      )}
      {open > 0 && (
        <Chip className="inline-flex items-center gap-0.5 text-accent" title={`${open} calls have not ended`}>
          <CircleDashed size={12} aria-hidden />
          {open} open
        </Chip>
      )}
    </>
  );
}

function CallName({ table, row, isMatch }: TreeRowProps) {
  const name = nameAt(table, row);
  const model = textAt(table, table.model, row);
  const outcome = textAt(table, table.outcome, row) ?? '';
  const attempt = table.attempt[row] ?? 0;
  const flags = textAt(table, table.flags, row);
  const isFine = outcome === 'ok';
  const look = OUTCOMES[outcome];
  const Icon = look?.icon ?? CircleAlert;
  const tone = look?.tone === 'bad' ? 'text-bad' : look?.tone === 'accent' ? 'text-accent' : 'text-warn';
  const status = table.status[row] ?? 0;
  const message = textAt(table, table.errorMessage, row);
  return (
    <>
      <span className="w-5 shrink-0" />
      {!isFine && (
        <span
          className={`inline-flex shrink-0 items-center gap-1 text-xs ${tone}`}
          title={[look?.about, textAt(table, table.errorType, row), message].filter(Boolean).join('\n')}
        >
          <Icon size={13} aria-hidden />
          {status >= 400 ? <span className="num">{status}</span> : (look?.word ?? outcome)}
        </span>
      )}
      <span title={name} className={`truncate ${isMatch ? 'bg-warn-soft text-warn' : ''}`}>
        {name}
      </span>
      {model !== null && model !== name && <span className="shrink-[9] truncate text-xs text-ink-faint">{model}</span>}
      {attempt > 0 && (
        <Chip className="text-warn" title="The client tried again">
          retry {attempt}
        </Chip>
      )}
      {flags !== null && (
        <Chip className="text-ink-faint" title={flags}>
          ⚑
        </Chip>
      )}
    </>
  );
}

function CostCell({ table, row, look }: TreeRowProps) {
  if (table.kind[row] === OPEN) return <span className="text-xs text-accent">running</span>;
  const isSelf = look.isSelfCost && !isCallRow(table, row);
  const amount = (isSelf ? table.ownCost : table.totalCost)[row] ?? 0n;
  const unpriced = (isSelf ? table.ownUnpriced : table.unpriced)[row] ?? 0;
  const share = (table.costBefore[table.end[row] ?? row + 1] ?? 0) - (table.costBefore[row] ?? 0);
  return (
    <BarredCost value={formatUsd(amount)} unpriced={unpriced} share={share}>
      {isCallRow(table, row) ? <TableCallCost table={table} row={row} /> : undefined}
    </BarredCost>
  );
}

function TimeCell({ table, row }: TreeRowProps) {
  if (table.kind[row] === OPEN) return <span className="text-ink-faint">…</span>;
  if (isCallRow(table, row)) return <Duration ms={numberAt(table.durationMs, row)} />;
  return <Duration ms={(table.endMs[row] ?? 0) - (table.startMs[row] ?? 0)} />;
}

/** The cells of a row; the row itself, its place and its focus are the tree's. */
export const TreeRow = memo(function TreeRow(props: TreeRowProps) {
  const { table, row, look } = props;
  const { layout } = look;
  const name = (
    <div
      role="rowheader"
      className="flex min-w-0 items-center gap-1.5 overflow-hidden whitespace-nowrap"
      style={{ paddingLeft: indentOf(table, row, layout) }}
    >
      {isCallRow(table, row) ? <CallName {...props} /> : <StepName {...props} />}
    </div>
  );
  const cost = (
    <div role="gridcell" className="text-right">
      <CostCell {...props} />
    </div>
  );
  const bar = (
    <div role="gridcell" className={layout === 'narrow' ? 'relative col-span-2 h-4' : 'relative h-full'}>
      <RowBar
        table={table}
        row={row}
        axis={look.axis}
        colouring={look.colouring}
        costliestShare={look.costliestShare}
      />
    </div>
  );
  if (layout === 'narrow')
    return (
      <>
        {name}
        {cost}
        {bar}
      </>
    );
  return (
    <>
      {name}
      {cost}
      {layout === 'wide' && (
        <div role="gridcell" className="truncate text-right">
          <Tokens of={tokensAt(table, row)} />
        </div>
      )}
      <div role="gridcell" className="text-right">
        <TimeCell {...props} />
      </div>
      {bar}
    </>
  );
});
