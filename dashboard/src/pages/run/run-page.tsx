/** One run: its sums, its calls as a waterfall or as a list of steps, and what is selected beside them. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { runQuery } from '../../api/runs.ts';
import { Allowed } from '../../app/session-context.tsx';
import { SidePanel } from '../../components/side-panel.tsx';
import { EmptyState, ErrorState, Skeleton, StaleNote } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { useIsNarrow } from '../../components/use-is-narrow.ts';
import { BudgetsOf } from '../budgets/budgets-of.tsx';
import { LazyLogDetail } from '../log/lazy-log-detail.tsx';
import { findIdentity, isCallRow, type RunTable } from './model/run-table.ts';
import { searchTable } from './model/search-table.ts';
import { countLevels, countMatch } from './model/tree-keys.ts';
import { RunHeader } from './run-header.tsx';
import { RunPause } from './run-pause.tsx';
import type { RunSearch } from './run-search.ts';
import { RunToolbar } from './run-toolbar.tsx';
import { RunTree, type RunTreeHandle } from './run-tree.tsx';
import { StepPanel } from './step-panel.tsx';
import { StepsView } from './steps-view.tsx';
import { TreeLegend } from './tree-legend.tsx';
import { useOpenState } from './use-open-state.ts';
import { type LoadedRun, MAX_LOADED_CALLS, useRunTable } from './use-run-table.ts';

export function RunPage() {
  const { trace } = useSearch({ from: '/app/run' });
  if (trace === undefined)
    return (
      <EmptyState title="Which run?" actions={<Link to="/runs">Go to runs</Link>}>
        The address names no trace id.
      </EmptyState>
    );
  return <KnownRun key={trace} trace={trace} />;
}

/** Opening something is a step of the history, walking on from there is not: Back closes what was opened. */
function useSelection(): {
  readonly sel: string | undefined;
  readonly select: (sel: string) => void;
  readonly close: () => void;
} {
  const { sel } = useSearch({ from: '/app/run' });
  const navigate = useNavigate({ from: '/run' });
  const { history } = useRouter();
  const isPushed = useRef(false);
  useEffect(() => {
    if (sel === undefined) isPushed.current = false;
  }, [sel]);
  const select = useCallback(
    (next: string) => {
      const replace = sel !== undefined;
      if (!replace) isPushed.current = true;
      void navigate({ search: (before) => ({ ...before, sel: next }), replace });
    },
    [navigate, sel],
  );
  const close = useCallback(() => {
    if (isPushed.current) history.back();
    else void navigate({ search: (before) => ({ ...before, sel: undefined }), replace: true });
  }, [navigate, history]);
  return { sel, select, close };
}

function KnownRun({ trace }: { readonly trace: string }) {
  const search = useSearch({ from: '/app/run' });
  const navigate = useNavigate({ from: '/run' });
  const change = useCallback(
    (next: RunSearch) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true }),
    [navigate],
  );
  const { data: run, error, refetch } = useQuery(runQuery(trace));
  const loaded = useRunTable(trace, search.fold !== '0');
  const { table } = loaded;
  const drawnCalls = table?.calls[0] ?? 0;
  // The run's models, keys and metadata may have changed with its calls.
  useEffect(() => {
    if (loaded.isComplete && run !== undefined && drawnCalls !== run.calls) void refetch();
  }, [loaded.isComplete, drawnCalls, run, refetch]);

  const isUnknown = error instanceof ApiError && error.status === 404 && drawnCalls === 0;
  return (
    <>
      <RunHeader trace={trace} run={run} table={loaded.isComplete ? table : null} />
      <Allowed to="viewer">
        <Allowed to="viewer">
          <RunPause trace={trace} />
        </Allowed>
        <div className="px-4 pb-3 empty:hidden">
          <BudgetsOf scope="run" value={trace} />
        </div>
      </Allowed>
      {isUnknown && (
        <EmptyState title="There is no run with this trace id" actions={<Link to="/runs">Go to runs</Link>}>
          It appears here as soon as a call carries it as X-Gateway-Trace-Id. Calls that retention has dropped are gone.
        </EmptyState>
      )}
      {error !== null && !isUnknown && run === undefined && (
        <ErrorState error={error} what="the run" onRetry={() => void refetch()} />
      )}
      {loaded.error !== null && <ErrorState error={loaded.error} what="the calls of the run" onRetry={loaded.retry} />}
      {run?.cut_at != null && (
        <StaleNote>
          Retention dropped calls of this run at <Timestamp at={run.cut_at} />. Sums are of the calls that are left, or,
          when none is, of all that it had.
        </StaleNote>
      )}
      <RunNotes loaded={loaded} calls={run?.calls} />
      {!isUnknown && table === null && loaded.error === null && <Skeleton rows={14} label="Loading the calls" />}
      {!isUnknown && table !== null && <RunBody trace={trace} table={table} search={search} change={change} />}
    </>
  );
}

function RunNotes({ loaded, calls }: { readonly loaded: LoadedRun; readonly calls: number | undefined }) {
  return (
    <>
      {loaded.isCut && (
        <StaleNote>
          The waterfall shows the first {MAX_LOADED_CALLS.toLocaleString('en-US')}
          {calls === undefined ? '' : ` of ${calls.toLocaleString('en-US')}`} calls. The sums above are of all.
        </StaleNote>
      )}
      {(loaded.stream === 'reconnecting' || loaded.stream === 'failed') && (
        <StaleNote>Live updates are interrupted; trying again. What is shown stays.</StaleNote>
      )}
    </>
  );
}

interface RunBodyProps {
  readonly trace: string;
  readonly table: RunTable;
  readonly search: RunSearch;
  readonly change: (search: RunSearch) => void;
}

function RunBody({ trace, table, search, change }: RunBodyProps) {
  const { sel, select, close } = useSelection();
  const isNarrow = useIsNarrow();
  const { state, setState, setLevel } = useOpenState(table, search.level, sel, change);
  const matches = useMemo(() => searchTable(table, search.q ?? ''), [table, search.q]);
  const levels = useMemo(() => countLevels(table), [table]);
  const [activeRow, setActiveRow] = useState(0);
  const tree = useRef<RunTreeHandle>(null);
  const selectedRow = useMemo(() => (sel === undefined ? null : findIdentity(table, sel)), [table, sel]);
  const onText = useCallback((next: RunSearch) => change(next), [change]);
  const showInTree = (identity: string) => {
    change({ view: undefined });
    select(identity);
  };
  return (
    <>
      <RunToolbar
        search={search}
        onChange={onText}
        level={state.changed.size === 0 ? state.level : null}
        levels={levels}
        onLevel={setLevel}
        found={matches === null ? null : { number: countMatch(matches, activeRow), count: matches.count }}
        onPress={(key) => tree.current?.press(key)}
      />
      <div className="flex min-h-0 flex-1">
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          {search.view === 'steps' ? (
            <StepsView
              table={table}
              sort={search.sort}
              onSort={(sort) => change({ sort })}
              selected={sel}
              onSelect={select}
              onOpen={showInTree}
            />
          ) : (
            <>
              <RunTree
                trace={trace}
                table={table}
                state={state}
                onState={setState}
                matches={matches}
                isOnlyMatches={search.only === '1' && matches !== null}
                axis={search.axis ?? 'time'}
                colouring={search.color ?? 'status'}
                isSelfCost={search.cost === 'self'}
                selected={sel}
                onSelect={select}
                onActive={setActiveRow}
                layout={isNarrow ? 'narrow' : sel === undefined ? 'wide' : 'short'}
                handle={tree}
              />
              <TreeLegend table={table} axis={search.axis ?? 'time'} colouring={search.color ?? 'status'} />
            </>
          )}
        </div>
        {sel !== undefined && (
          <SidePanel label={selectedRow === null || isCallRow(table, selectedRow) ? 'Call' : 'Step'} onClose={close}>
            {selectedRow !== null && isCallRow(table, selectedRow) && <LazyLogDetail id={sel} onShow={select} />}
            {selectedRow !== null && !isCallRow(table, selectedRow) && (
              <StepPanel table={table} row={selectedRow} onSelect={select} />
            )}
            {selectedRow === null && (
              <EmptyState title="Not in this run">The address selects a call or a step that is not here.</EmptyState>
            )}
          </SidePanel>
        )}
      </div>
    </>
  );
}
