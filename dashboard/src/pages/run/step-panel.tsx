/** One step, a fold, or the whole run in the side panel: where its money and its time went, and its costliest calls. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { formatUsd } from '../../../../src/vocabulary/usd.ts';
import { snippetsQuery } from '../../api/logs.ts';
import { useAllowed } from '../../app/session-context.tsx';
import { Count, Duration, Money, Share as ShareOf, Tokens } from '../../components/amounts.tsx';
import { type KeyValue, KeyValueList } from '../../components/key-value-list.tsx';
import { type Snippet, SnippetText } from '../../components/snippet-text.tsx';
import {
  callIdAt,
  FOLD,
  identify,
  isCallRow,
  listNames,
  nameAt,
  numberAt,
  type RunTable,
  textAt,
  tokensAt,
} from './model/run-table.ts';
import { listChildShares, listCostliestCalls, listModelShares, type Share } from './model/step-summary.ts';
import { TableCallCost } from './table-call-cost.tsx';

const MOST_SHARES = 12;
const MOST_CALLS = 50;

interface StepPanelProps {
  readonly table: RunTable;
  readonly row: number;
  readonly onSelect: (identity: string) => void;
}

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="border-t border-line px-4 py-3">
      <h3 className="mb-2 text-xs font-medium text-ink-soft">{title}</h3>
      {children}
    </section>
  );
}

function ratio(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 100_000n) / whole) / 100_000;
}

interface ShareListProps {
  readonly shares: readonly Share[];
  readonly whole: bigint;
  readonly onSelect?: (row: number) => void;
}

function ShareList({ shares, whole, onSelect }: ShareListProps) {
  const shown = shares.slice(0, MOST_SHARES);
  return (
    <>
      <ul className="flex flex-col gap-2">
        {shown.map(({ label, row, calls, errors, unpriced, cost }) => (
          <li key={`${label}\n${row ?? ''}\n${calls}`}>
            <div className="flex items-baseline gap-2">
              {row === null || onSelect === undefined ? (
                <span className="min-w-0 truncate" title={label}>
                  {label || '(numbered)'}
                </span>
              ) : (
                <button
                  type="button"
                  title={label}
                  className="min-w-0 truncate text-left text-accent hover:underline"
                  onClick={() => onSelect(row)}
                >
                  {label || '(numbered)'}
                </button>
              )}
              <span className="num text-xs text-ink-faint">×{calls.toLocaleString('en-US')}</span>
              {errors > 0 && <span className="num text-xs text-bad">{errors} failed</span>}
              <span className="ml-auto text-right">
                <Money value={formatUsd(cost)} unpriced={unpriced} />
              </span>
              <span className="w-11 text-right text-xs text-ink-soft">
                <ShareOf value={ratio(cost, whole)} />
              </span>
            </div>
            <div aria-hidden="true" className="mt-0.5 h-1 rounded bg-raised">
              <div className="h-1 rounded bg-bar" style={{ width: `${ratio(cost, whole) * 100}%` }} />
            </div>
          </li>
        ))}
      </ul>
      {shares.length > shown.length && (
        <p className="mt-2 text-xs text-ink-faint">
          The {shown.length} most expensive of {shares.length.toLocaleString('en-US')}
        </p>
      )}
    </>
  );
}

function listFacts(table: RunTable, row: number): readonly KeyValue[] {
  const spanMs = (table.endMs[row] ?? 0) - (table.startMs[row] ?? 0);
  const activeMs = table.activeMs[row] ?? 0;
  const callMs = table.callMs[row] ?? 0;
  const unpriced = table.unpriced[row] ?? 0;
  const statistics = table.kind[row] === FOLD ? table.foldStatistics[table.slot[row] ?? 0] : null;
  const money = (amount: bigint | null) => <Money value={amount === null ? null : formatUsd(amount)} />;
  return [
    { name: 'Cost', value: <Money value={formatUsd(table.totalCost[row] ?? 0n)} unpriced={unpriced} /> },
    {
      name: 'Of its own calls',
      value: <Money value={formatUsd(table.ownCost[row] ?? 0n)} unpriced={table.ownUnpriced[row] ?? 0} />,
    },
    ...(unpriced > 0 ? [{ name: 'Not fully known', value: `${unpriced} of ${table.calls[row]} calls` }] : []),
    { name: 'Calls', value: <Count value={table.calls[row] ?? 0} unit="calls" /> },
    { name: 'Errors', value: <Count value={table.errors[row] ?? 0} unit="calls" /> },
    {
      name: 'Tokens',
      value: <Tokens of={tokensAt(table, row)} />,
    },
    { name: 'First to last', value: <Duration ms={spanMs} /> },
    { name: 'In a call', value: <Duration ms={activeMs} /> },
    { name: 'Outside the model', value: <Duration ms={spanMs - activeMs} /> },
    { name: 'Sum of the calls', value: <Duration ms={callMs} /> },
    {
      name: 'At once',
      value: (
        <span className="num">
          {activeMs === 0 ? '—' : `${(callMs / activeMs).toFixed(2)} on average, at most ${table.maxParallel[row]}`}
        </span>
      ),
    },
    ...(statistics == null
      ? []
      : [
          {
            name: 'Cost of one',
            value: (
              <>
                {money(statistics.minCost)} · median {money(statistics.medianCost)} · {money(statistics.maxCost)}
              </>
            ),
          },
          {
            name: 'Time of one',
            value: (
              <>
                <Duration ms={statistics.minMs} /> · median <Duration ms={statistics.medianMs} /> ·{' '}
                <Duration ms={statistics.maxMs} />
              </>
            ),
          },
        ]),
  ];
}

function CallSnippet({ snippet }: { readonly snippet: Snippet | null }) {
  if (snippet === null) return null;
  return (
    <div className="text-xs">
      <SnippetText snippet={snippet} />
    </div>
  );
}

function CallList({ table, row, onSelect }: StepPanelProps) {
  const calls = listCostliestCalls(table, row, MOST_CALLS);
  const { data: snippets } = useQuery({
    ...snippetsQuery(calls.map((call) => callIdAt(table, call))),
    enabled: useAllowed('viewer'),
  });
  const all = table.calls[row] ?? 0;
  return (
    <>
      <ul className="divide-y divide-line/60">
        {calls.map((call) => (
          <li key={call} className="py-1">
            <div className="flex items-baseline gap-2">
              <button
                type="button"
                className="min-w-0 truncate text-left text-accent hover:underline"
                onClick={() => onSelect(identify(table, call))}
              >
                {nameAt(table, call) || '(no name)'}
              </button>
              <span className="min-w-0 truncate text-xs text-ink-faint">{textAt(table, table.model, call)}</span>
              {(table.errors[call] ?? 0) > 0 && (
                <span className="text-xs text-bad">{textAt(table, table.errorType, call) ?? 'failed'}</span>
              )}
              <span className="ml-auto shrink-0">
                <TableCallCost table={table} row={call} />
              </span>
              <span className="w-16 shrink-0 text-right">
                <Duration ms={numberAt(table.durationMs, call)} />
              </span>
            </div>
            <CallSnippet snippet={snippets?.get(callIdAt(table, call)) ?? null} />
          </li>
        ))}
      </ul>
      {all > calls.length && (
        <p className="mt-2 text-xs text-ink-faint">
          The {calls.length} most expensive of {all.toLocaleString('en-US')}
        </p>
      )}
    </>
  );
}

export function StepPanel({ table, row, onSelect }: StepPanelProps) {
  const whole = table.totalCost[row] ?? 0n;
  const names = listNames(table, row);
  if (isCallRow(table, row)) return null;
  return (
    <>
      <div className="px-4 py-3">
        <p className="mb-2 font-medium [overflow-wrap:anywhere]">
          {row === 0 ? 'The whole run' : names.join(' / ')}
          {table.kind[row] === FOLD && (
            <span className="text-ink-soft">
              {names.length > 0 ? ' / ' : ''}
              {nameAt(table, row)} ×{(table.setSize[row + 1] ?? 0).toLocaleString('en-US')}
            </span>
          )}
        </p>
        <KeyValueList items={listFacts(table, row)} />
      </div>
      <Section title="Cost by child">
        <ShareList
          shares={listChildShares(table, row)}
          whole={whole}
          onSelect={(child) => onSelect(identify(table, child))}
        />
      </Section>
      <Section title="Cost by model">
        <ShareList shares={listModelShares(table, row)} whole={whole} />
      </Section>
      <Section title="Calls">
        <CallList table={table} row={row} onSelect={onSelect} />
      </Section>
    </>
  );
}
