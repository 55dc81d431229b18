/** The runs as a list. */
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { parseUsd } from '../../../../src/vocabulary/usd.ts';
import type { Run } from '../../api/runs.ts';
import { useAllowed } from '../../app/session-context.tsx';
import { BarredCost, Count, Duration, Money, Share, Tokens } from '../../components/amounts.tsx';
import { RunStateBadge } from '../../components/badges.tsx';
import { DataTable, figureColumn, type TableColumn } from '../../components/data-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { RunShape } from './run-shape.tsx';

const ROW_HEIGHT_PX = 46;
const SHORT_COLUMNS: readonly string[] = ['state', 'run', 'duration', 'cost', 'calls'];

interface RunsTableProps {
  readonly runs: readonly Run[];
  readonly needsDate: boolean;
  readonly sort: string;
  readonly peek: string | undefined;
  readonly onSort: (sort: string) => void;
  readonly onPeek: (trace: string) => void;
  readonly onOpen: (trace: string) => void;
  readonly onEndReached: () => void;
  readonly footer: ReactNode;
}

/** Trace id, and under it the costliest step and the models. */
function RunName({ run }: { readonly run: Run }) {
  const mayOpen = useAllowed('viewer');
  return (
    <div className="min-w-0 leading-tight">
      {mayOpen ? (
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
      ) : (
        <span title={run.trace_id} className="block truncate font-mono text-xs">
          {run.trace_id}
        </span>
      )}
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

/** The bar is the share of the costliest run of the list. */
function CostCell({ run, highest }: { readonly run: Run; readonly highest: number }) {
  const share = highest === 0 ? 0 : Number(parseUsd(run.total_cost)) / highest;
  return <BarredCost value={run.total_cost} unpriced={run.unpriced_calls} share={share} />;
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
    figureColumn('duration', 'Duration', '4.75rem', (run) => <Duration ms={run.duration_ms} />, 'duration_ms'),
    figureColumn('cost', 'Cost', '6.25rem', (run) => <CostCell run={run} highest={highest} />, 'total_cost'),
    figureColumn('calls', 'Calls', '3.25rem', (run) => <Count value={run.calls} unit="calls" />, 'calls'),
    figureColumn('tokens', 'Tokens in → out', 'minmax(12.5rem, 13rem)', (run) => <Tokens of={run} />, 'output_tokens'),
  ];
}

export function RunsTable(props: RunsTableProps) {
  const { runs, needsDate, peek } = props;
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
      onSelect={(run) => props.onPeek(run.trace_id)}
      onOpen={(run) => props.onOpen(run.trace_id)}
      sort={props.sort}
      onSort={props.onSort}
      onEndReached={props.onEndReached}
      footer={props.footer}
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
            <Duration ms={run.duration_ms} /> · <Tokens of={run} />
          </p>
          <p className="truncate text-xs text-ink-faint">
            <Timestamp at={run.started_at} /> · {run.models.join(', ')}
          </p>
        </div>
      )}
    />
  );
}
