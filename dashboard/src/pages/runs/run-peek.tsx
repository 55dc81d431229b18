/** A run beside the list: its figures, what its steps cost, its metadata, and the ways on. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { parseUsd } from '../../../../src/vocabulary/usd.ts';
import { type RunWithSteps, runQuery } from '../../api/runs.ts';
import { Count, Duration, Money, Tokens } from '../../components/amounts.tsx';
import { RunStateBadge } from '../../components/badges.tsx';
import { buttonClass, CopyButton } from '../../components/buttons.tsx';
import { type KeyValue, KeyValueList } from '../../components/key-value-list.tsx';
import { Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import type { KeyNames } from '../../search/dimensions.ts';
import { NO_STEP } from '../../search/dimensions.ts';
import { filterByValue } from '../../search/filter-text.ts';
import { windowOfRun } from '../../search/linked-window.ts';

const MOST_STEPS = 8;

function listFacts(run: RunWithSteps, keyNames: KeyNames): readonly KeyValue[] {
  return [
    { name: 'State', value: <RunStateBadge state={run.state} errors={run.errors} /> },
    { name: 'Cost', value: <Money value={run.total_cost} unpriced={run.unpriced_calls} /> },
    {
      name: 'Calls',
      value: (
        <>
          <Count value={run.calls} unit="calls" />
          {run.open_calls > 0 && <span className="ml-2 text-accent">{run.open_calls} open</span>}
        </>
      ),
    },
    {
      name: 'Tokens',
      value: <Tokens of={run} />,
    },
    { name: 'Started', value: <Timestamp at={run.started_at} /> },
    { name: 'Duration', value: <Duration ms={run.duration_ms} /> },
    { name: 'Models', value: run.models.join(', ') || '—' },
    { name: 'Keys', value: run.key_ids.map((id) => keyNames.get(String(id)) ?? `key ${id}`).join(', ') || '—' },
    ...Object.entries(run.metadata).map(([name, value]) => ({ name, value: [value].flat().join(', ') })),
  ];
}

/** The outermost steps and the calls in none, the costliest first: together they are the run. */
function listTopSteps(run: RunWithSteps): RunWithSteps['steps'] {
  return run.steps
    .filter(({ names }) => names.length <= 1)
    .sort((a, b) => {
      const [costA, costB] = [parseUsd(a.total_cost), parseUsd(b.total_cost)];
      return costA < costB ? 1 : costA > costB ? -1 : 0;
    });
}

function TopSteps({ run }: { readonly run: RunWithSteps }) {
  const steps = listTopSteps(run);
  const whole = Number(run.total_cost);
  if (steps.every(({ names }) => names.length === 0)) return null;
  return (
    <section className="border-t border-line px-4 py-3">
      <h3 className="mb-2 text-xs font-medium text-ink-soft">Cost by step</h3>
      <ul className="flex flex-col gap-2">
        {steps.slice(0, MOST_STEPS).map(({ span_key, names, calls, total_cost, unpriced_calls }) => (
          <li key={span_key}>
            <div className="flex items-baseline gap-2">
              <Link
                to="/run"
                search={{ trace: run.trace_id, ...(span_key === '' ? {} : { sel: span_key }) }}
                className="min-w-0 truncate text-accent hover:underline"
              >
                {names[0] ?? NO_STEP}
              </Link>
              <span className="num text-xs text-ink-faint">×{calls}</span>
              <span className="ml-auto">
                <Money value={total_cost} unpriced={unpriced_calls} />
              </span>
            </div>
            <div aria-hidden="true" className="mt-0.5 h-1 rounded bg-raised">
              <div
                className="h-1 rounded bg-bar"
                style={{ width: `${whole === 0 ? 0 : (Number(total_cost) / whole) * 100}%` }}
              />
            </div>
          </li>
        ))}
      </ul>
      {steps.length > MOST_STEPS && (
        <p className="mt-2 text-xs text-ink-faint">
          The {MOST_STEPS} most expensive of {steps.length}
        </p>
      )}
    </section>
  );
}

export function RunPeek({ trace, keyNames }: { readonly trace: string; readonly keyNames: KeyNames }) {
  const { data: run, error, refetch } = useQuery(runQuery(trace));
  if (run === undefined) return <Pending query={{ error, refetch }} what="the run" rows={6} />;
  return (
    <>
      <div className="flex flex-col gap-3 px-4 py-3">
        <div className="flex flex-wrap gap-2">
          <Link to="/run" search={{ trace }} className={buttonClass('primary')}>
            Open the run
          </Link>
          <Link
            to="/logs"
            search={{ ...windowOfRun(run), f: [filterByValue('trace_id', trace)] }}
            className={buttonClass()}
          >
            Calls in Logs
          </Link>
          <CopyButton text={trace} what="the trace id" label="Trace id" />
        </div>
        <p className="font-mono text-xs [overflow-wrap:anywhere] text-ink-soft">{trace}</p>
        <KeyValueList items={listFacts(run, keyNames)} />
      </div>
      <TopSteps run={run} />
    </>
  );
}
