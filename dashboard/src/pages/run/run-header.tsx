/** The head of a run: what it is, how it stands, what it cost in all, and where to go from here. */
import { Link } from '@tanstack/react-router';
import { Download, ScrollText } from 'lucide-react';
import { formatUsd } from '../../../../src/vocabulary/usd.ts';
import { apiPath } from '../../api/client.ts';
import type { RunWithSteps } from '../../api/runs.ts';
import { Allowed, useAllowed } from '../../app/session-context.tsx';
import { Count, Duration, Money, Tokens } from '../../components/amounts.tsx';
import { RunStateBadge } from '../../components/badges.tsx';
import { buttonClass, CopyButton } from '../../components/buttons.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { type SummaryFigure, SummaryStrip } from '../../components/summary-strip.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { filterByValue } from '../../search/filter-text.ts';
import { windowAround, windowOfRun } from '../../search/linked-window.ts';
import type { WindowSearch } from '../../search/time-window.ts';
import { useKeyNames } from '../log/use-key-name.ts';
import { ShareButton } from '../share/share-button.tsx';
import { type RunTable, tokensAt } from './model/run-table.ts';

const TITLE_CHARACTERS = 64;

function shorten(trace: string): string {
  const characters = Array.from(trace);
  if (characters.length <= TITLE_CHARACTERS) return trace;
  const half = TITLE_CHARACTERS / 2;
  return `${characters.slice(0, half).join('')}…${characters.slice(-half).join('')}`;
}

function RunActions({ trace, run }: { readonly trace: string; readonly run: RunWithSteps | undefined }) {
  return (
    <>
      <CopyButton text={window.location.href} what="the link to this view" label="Copy link" />
      <ShareButton what={{ page: 'run', trace_id: trace }} />
      <Link
        to="/logs"
        search={{
          f: [filterByValue('trace_id', trace)],
          ...(run === undefined ? { range: '90d' } : windowOfRun(run)),
        }}
        className={buttonClass()}
      >
        <ScrollText size={15} aria-hidden /> Show in Logs
      </Link>
      <a href={apiPath('/export', { kind: 'run', format: 'csv', trace_id: trace })} download className={buttonClass()}>
        <Download size={15} aria-hidden /> CSV
      </a>
    </>
  );
}

interface ChipLinkProps {
  readonly filter: string;
  readonly name: string;
  readonly value: string;
  /** Of the runs that it shows. */
  readonly window: WindowSearch;
}

function ChipLink({ filter, name, value, window }: ChipLinkProps) {
  const words = (
    <>
      <span className="shrink-0 text-ink-soft">{name}</span>
      <span className="truncate">{value}</span>
    </>
  );
  const look = 'inline-flex max-w-72 items-center gap-1 rounded bg-raised px-1.5 py-0.5 text-xs';
  if (!useAllowed('viewer')) return <span className={look}>{words}</span>;
  return (
    <Link
      to="/runs"
      search={{ ...window, f: [filter] }}
      title={`Runs with ${name} ${value}`}
      className={`${look} hover:text-accent`}
    >
      {words}
    </Link>
  );
}

function RunChips({ run }: { readonly run: RunWithSteps }) {
  const keyNames = useKeyNames();
  // Runs are found by their latest activity.
  const window = windowAround(run.ended_at, '30d', Date.now());
  const metadata = Object.entries(run.metadata).flatMap(([key, value]) =>
    [value].flat().map((one) => ({ key, value: one })),
  );
  return (
    <div className="flex flex-wrap gap-1.5 px-4 pb-3">
      {run.models.map((model) => (
        <ChipLink
          key={`model ${model}`}
          name="model"
          value={model}
          filter={filterByValue('any_model', model)}
          window={window}
        />
      ))}
      {run.key_ids.map((id) => (
        <ChipLink
          key={`key ${id}`}
          name="key"
          value={keyNames.get(String(id)) ?? String(id)}
          filter={filterByValue('key_id', String(id))}
          window={window}
        />
      ))}
      {metadata.map(({ key, value }) => (
        <ChipLink
          key={`${key}\n${value}`}
          name={key}
          value={value}
          filter={filterByValue(`metadata.${key}`, value)}
          window={window}
        />
      ))}
    </div>
  );
}

/** Sums of the calls that are drawn, so that head and tree are always of one moment. */
function figuresOfTable(table: RunTable): readonly SummaryFigure[] {
  const unpriced = table.unpriced[0] ?? 0;
  return [
    {
      name: 'Cost',
      value: <Money value={formatUsd(table.totalCost[0] ?? 0n)} unpriced={unpriced} />,
      ...(unpriced > 0 ? { detail: `${unpriced} of ${table.calls[0]} calls not fully known` } : {}),
    },
    { name: 'Calls', value: <Count value={table.calls[0] ?? 0} unit="calls" /> },
    { name: 'Errors', value: <Count value={table.errors[0] ?? 0} unit="calls" /> },
    {
      name: 'Tokens in → out',
      value: <Tokens of={tokensAt(table, 0)} />,
    },
    { name: 'Duration', value: <Duration ms={table.lengthMs} /> },
    { name: 'Outside the model', value: <Duration ms={table.lengthMs - (table.activeMs[0] ?? 0)} /> },
    { name: 'Started', value: <Timestamp at={new Date(table.originMs).toISOString()} /> },
  ];
}

function figuresOfRun(run: RunWithSteps): readonly SummaryFigure[] {
  return [
    { name: 'Cost', value: <Money value={run.total_cost} unpriced={run.unpriced_calls} /> },
    { name: 'Calls', value: <Count value={run.calls} unit="calls" /> },
    { name: 'Errors', value: <Count value={run.errors} unit="calls" /> },
    {
      name: 'Tokens in → out',
      value: <Tokens of={run} />,
    },
    { name: 'Duration', value: <Duration ms={run.duration_ms} /> },
    { name: 'Started', value: <Timestamp at={run.started_at} /> },
  ];
}

interface RunHeaderProps {
  readonly trace: string;
  readonly run: RunWithSteps | undefined;
  readonly table: RunTable | null;
}

export function RunHeader({ trace, run, table }: RunHeaderProps) {
  const open = table?.openCalls[0] ?? run?.open_calls ?? 0;
  const errors = table?.errors[0] ?? run?.errors ?? 0;
  const rest = run?.state === 'client_closed' ? 'client_closed' : 'ok';
  const state = open > 0 ? 'running' : errors > 0 ? 'errors' : rest;
  // A run whose calls have all been dropped by retention keeps its former totals.
  const hasCalls = table !== null && (table.calls[0] ?? 0) + open > 0;
  const figures = hasCalls ? figuresOfTable(table) : run === undefined ? null : figuresOfRun(run);
  return (
    <>
      <PageHeader
        title={shorten(trace)}
        tabTitle={`Run ${shorten(trace)}`}
        about={
          <span className="flex flex-wrap items-center gap-2">
            <CopyButton text={trace} what="the trace id" />
            {figures !== null && <RunStateBadge state={state} errors={errors} />}
            {open > 0 && <span className="text-accent">live: {open} open</span>}
          </span>
        }
        actions={
          <Allowed to="viewer">
            <RunActions trace={trace} run={run} />
          </Allowed>
        }
      />
      {figures === null ? <div className="h-14" /> : <SummaryStrip label="Sums of the run" figures={figures} />}
      {run !== undefined && <RunChips run={run} />}
    </>
  );
}
