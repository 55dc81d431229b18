/** The runs as a list. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { parseUsd } from '../../../../src/usd.ts';
import type { Run } from '../../api/runs.ts';
import { Count, Duration, Money, Share, Tokens } from '../../components/amounts.tsx';
import { RunStateBadge } from '../../components/badges.tsx';
import { DataTable, type TableColumn } from '../../components/data-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { RunShape } from './run-shape.tsx';

const ROW_HEIGHT_PX = 46;
/** Beside an open panel. */
const SHORT_COLUMNS: readonly string[] = ['state', 'run', 'duration', 'cost', 'calls'];

interface RunsTableProps {
  readonly runs: readonly Run[];
  /** Times need their date. */
  readonly needsDate: boolean;
  readonly sort: string;
  readonly peek: string | undefined;
  readonly onSort: (sort: string) => void;
  readonly onPeek: (trace: string) => void;
  readonly onOpen: (trace: string) => void;
  readonly onEndReached: () => void;
  readonly footer: ReactNode;
}

function RunTokens({ run }: { readonly run: Run }) {
  return (
    <Tokens
      input={run.input_tokens}
      cacheRead={run.cache_read_input_tokens}
      cacheCreation={run.cache_creation_input_tokens}
      output={run.output_tokens}
    />
  );
}

/** Trace id, and under it the dearest step and the models. */
function RunName({ run }: { readonly run: Run }) {
  return (
    <div className="min-w-0 leading-tight">
      <Link
        to="/run"
        search={{ trace: run.trace_id }}
        title={run.trace_id}
        tabIndex={-1}
        className="block truncate font-mono text-xs underline-offset-4 hover:text-accent hover:underline"
        onClick={(event) => event.stopPropagation()}
      >
        {run.trace_id}
      </Link>
      <span className="block truncate text-xs text-ink-faint" title={run.models.join(', ')}>
        {run.top_step !== null && (
          <span className="text-ink-soft">
            {run.top_step.name} <Share value={run.top_step.share} />
            {' · '}
          </span>
        )}
        {run.models.join(', ')}
      </span>
    </div>
  );
}

/** Of the dearest run of the list, for the bar; a drawing, so a float is good enough. */
function CostCell({ run, highest }: { readonly run: Run; readonly highest: number }) {
  const share = highest === 0 ? 0 : Number(parseUsd(run.total_cost)) / highest;
  return (
    <span className="relative inline-block w-full pb-0.5">
      <Money value={run.total_cost} unpriced={run.unpriced_calls} />
      <span
        aria-hidden="true"
        className="absolute right-0 bottom-0 h-0.5 bg-bar"
        style={{ width: `${(Math.min(1, share) * 100).toFixed(1)}%` }}
      />
    </span>
  );
}

function listColumns(highest: number, needsDate: boolean): readonly TableColumn<Run>[] {
  return [
    {
      id: 'state',
      header: 'State',
      width: '6rem',
      sort: 'errors',
      render: (run) => <RunStateBadge state={run.state} errors={run.errors} />,
    },
    { id: 'run', header: 'Run', width: 'minmax(10rem, 1fr)', render: (run) => <RunName run={run} /> },
    {
      id: 'shape',
      header: 'Course',
      width: '6.25rem',
      render: (run) => <RunShape shape={run.shape} errors={run.shape_errors} />,
    },
    {
      id: 'start',
      header: 'Started',
      width: needsDate ? '9.25rem' : '6.25rem',
      sort: 'started_at',
      render: (run) => (
        <span className={needsDate ? 'text-xs' : ''}>
          <Timestamp at={run.started_at} form={needsDate ? 'datetime' : 'time'} />
        </span>
      ),
    },
    {
      id: 'duration',
      header: 'Duration',
      width: '4.75rem',
      align: 'right',
      sort: 'duration_ms',
      render: (run) => <Duration ms={run.duration_ms} />,
    },
    {
      id: 'cost',
      header: 'Cost',
      width: '6.25rem',
      align: 'right',
      sort: 'total_cost',
      render: (run) => <CostCell run={run} highest={highest} />,
    },
    {
      id: 'calls',
      header: 'Calls',
      width: '3.25rem',
      align: 'right',
      sort: 'calls',
      render: (run) => <Count value={run.calls} unit="calls" />,
    },
    {
      id: 'tokens',
      header: 'Tokens in → out',
      width: 'minmax(12.5rem, 13rem)',
      align: 'right',
      sort: 'output_tokens',
      render: (run) => <RunTokens run={run} />,
    },
  ];
}

export function RunsTable({
  runs,
  needsDate,
  sort,
  peek,
  onSort,
  onPeek,
  onOpen,
  onEndReached,
  footer,
}: RunsTableProps) {
  const highest = useMemo(
    () => runs.reduce((most, run) => Math.max(most, Number(parseUsd(run.total_cost))), 0),
    [runs],
  );
  const isShort = peek !== undefined;
  const columns = useMemo(() => {
    const all = listColumns(highest, needsDate);
    return isShort ? all.filter(({ id }) => SHORT_COLUMNS.includes(id)) : all;
  }, [highest, needsDate, isShort]);
  return (
    <DataTable
      label="Runs"
      columns={columns}
      rows={runs}
      rowKey={(run) => run.trace_id}
      selectedKey={peek}
      onSelect={(run) => onPeek(run.trace_id)}
      onOpen={(run) => onOpen(run.trace_id)}
      sort={sort}
      onSort={onSort}
      onEndReached={onEndReached}
      footer={footer}
      rowHeightPx={ROW_HEIGHT_PX}
      renderCard={(run) => (
        <div className="flex flex-col gap-0.5">
          <div className="flex items-center gap-2">
            <RunStateBadge state={run.state} errors={run.errors} />
            <span className="min-w-0 truncate font-mono text-xs">{run.trace_id}</span>
            <span className="ml-auto shrink-0 font-medium">
              <Money value={run.total_cost} unpriced={run.unpriced_calls} />
            </span>
          </div>
          <p className="truncate text-xs text-ink-soft">
            <Count value={run.calls} unit="calls" /> {run.calls === 1 ? 'call' : 'calls'} ·{' '}
            <Duration ms={run.duration_ms} /> · <RunTokens run={run} />
          </p>
          <p className="truncate text-xs text-ink-faint">
            <Timestamp at={run.started_at} /> · {run.models.join(', ')}
          </p>
        </div>
      )}
    />
  );
}
