/** What happened to every call, as an equation in rows: the first number is the sum of the others. */
import type { ReactNode } from 'react';
import type { AccountsBody } from '../../../../src/control/admin/accounts-body.ts';
import { ExactCount } from '../../components/amounts.tsx';
import { PlainTable } from '../../components/plain-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const REASONS: Readonly<Record<string, string>> = {
  older_release: 'written by an older release',
  tally_lost: 'whose count is lost or could not be written yet',
};

interface Term {
  readonly sign: string;
  readonly name: string;
  readonly calls: number;
  readonly note?: ReactNode;
  readonly isBad?: boolean;
}

function describeUnaccounted(unaccounted: AccountsBody['unaccounted']): string {
  const byReason = Map.groupBy(unaccounted, ({ reason }) => reason);
  return [...byReason].map(([reason, list]) => `${list.length} ${REASONS[reason] ?? reason}`).join(', ');
}

function Equation({ terms }: { readonly terms: readonly Term[] }) {
  return (
    <dl className="grid grid-cols-[auto_auto_auto_minmax(0,1fr)] gap-x-3 gap-y-1.5">
      {terms.map(({ sign, name, calls, note, isBad = false }) => (
        <div key={name} className="contents">
          <dt className="contents">
            <span className="num text-ink-faint">{sign}</span>
            <span className="text-ink-faint">{name}</span>
          </dt>
          <dd className={`text-right ${isBad && calls > 0 ? 'font-semibold text-bad' : ''}`}>
            <ExactCount value={calls} />
          </dd>
          <dd className="min-w-0 text-ink-faint">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

function describeWaiting({ spooled, oldest_waiting_at, is_whole }: AccountsBody): ReactNode {
  return (
    <>
      {!is_whole && 'at least '}
      {spooled > 0 && oldest_waiting_at !== null && (
        <>
          the oldest began <Timestamp at={oldest_waiting_at} form="relative" />
        </>
      )}
    </>
  );
}

export function AccountsList({ accounts }: { readonly accounts: AccountsBody }) {
  const terms: readonly Term[] = [
    { sign: '', name: 'accepted', calls: accounts.accepted },
    { sign: '=', name: 'stored', calls: accounts.stored },
    { sign: '+', name: 'in the spool', calls: accounts.spooled, note: describeWaiting(accounts) },
    { sign: '+', name: 'in flight', calls: accounts.in_flight },
    { sign: '+', name: 'set aside', calls: accounts.set_aside, isBad: true },
    { sign: '+', name: 'lost', calls: accounts.lost, isBad: true },
    ...(accounts.difference === 0 ? [] : [{ sign: '+', name: 'not found', calls: accounts.difference, isBad: true }]),
  ];
  return (
    <>
      <Equation terms={terms} />
      {accounts.unaccounted_total > 0 && (
        <p className="mt-3 text-ink-soft">
          Process directories that are not counted: {describeUnaccounted(accounts.unaccounted)}
        </p>
      )}
    </>
  );
}

const SHOWN = 50;

function sumTokens(usage: AccountsBody['losses'][number]['usage']): number {
  return Object.values(usage).reduce((sum, tokens) => sum + tokens, 0);
}

/** The minute, key and model of the lost calls, the latest first. */
export function LossesTable({ losses }: { readonly losses: AccountsBody['losses'] }) {
  if (losses.length === 0) return null;
  return (
    <>
      <h2 className="text-sm font-semibold">Lost</h2>
      <p className="text-ink-soft">
        Calls that were answered, but whose records could not be kept. They are in no cost.
        {losses.length > SHOWN && ` The latest ${SHOWN} of ${losses.length} lines.`}
      </p>
      <PlainTable
        label="Lost"
        rows={losses.slice(0, SHOWN)}
        rowKey={({ minute, account_id, key_id, provider, model }) =>
          [minute, account_id, key_id, provider, model].join(' ')
        }
        columns={[
          { header: 'Minute', render: ({ minute }) => <Timestamp at={minute} /> },
          { header: 'Key', render: ({ key_id }) => key_id ?? '—' },
          { header: 'Provider', render: ({ provider }) => provider ?? '—' },
          { header: 'Model', render: ({ model }) => <span className="whitespace-nowrap">{model ?? '—'}</span> },
          { header: 'Calls', align: 'right', render: ({ calls }) => <ExactCount value={calls} /> },
          { header: 'Tokens', align: 'right', render: ({ usage }) => <ExactCount value={sumTokens(usage)} /> },
        ]}
      />
    </>
  );
}
