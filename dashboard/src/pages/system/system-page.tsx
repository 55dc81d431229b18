/** System: whether everything is well, in numbers: processes, records under way, the database, jobs, settings. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Status } from '../../../../src/control/admin/status-body.ts';
import { getJson } from '../../api/client.ts';
import { Bytes, Count } from '../../components/amounts.tsx';
import { Badge, type Tone } from '../../components/badges.tsx';
import { type KeyValue, KeyValueList } from '../../components/key-value-list.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { PlainTable } from '../../components/plain-table.tsx';
import { Pending, StaleNote } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { AccountsList, LossesTable } from './accounts-list.tsx';
import { describeState, findProblems } from './find-problems.ts';
import { NodesTable } from './nodes-table.tsx';
import { QuarantineTable, useQuarantine } from './quarantine-table.tsx';

const REFETCH_MS = 3_000;

const STATE_TONES: Readonly<Record<string, Tone>> = {
  ready: 'good',
  up: 'good',
  down: 'bad',
  restarting: 'bad',
  crash_loop: 'bad',
};

function Card({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title} className="rounded-lg border border-line bg-panel p-4">
      <h2 className="mb-3 text-sm font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function PausedNow({ brakes }: { readonly brakes: NonNullable<Status['brakes']> }) {
  const { paused_runs: runs, paused_keys: keys } = brakes;
  if (runs + keys === 0) return 'nothing';
  return (
    <Link to="/brakes" className="text-accent hover:underline">
      {runs} {runs === 1 ? 'run' : 'runs'}, {keys} {keys === 1 ? 'key' : 'keys'}
    </Link>
  );
}

function AlertsWaiting({ alerts: { waiting, retried } }: { readonly alerts: NonNullable<Status['alerts']> }) {
  if (waiting === 0) return 'none waits';
  return `${waiting} to be sent${retried > 0 ? `, ${retried} of them tried again` : ''}`;
}

function GatewayCard({ status }: { readonly status: Status }) {
  const items: readonly KeyValue[] = [
    { name: 'Version', value: status.version },
    ...(status.role === 'control' ? [{ name: 'Role', value: 'control: takes no calls, see the nodes' }] : []),
    { name: 'Base address', value: <code className="font-mono text-xs break-all">{status.base_url}</code> },
    { name: 'Started', value: <Timestamp at={status.started_at} form="relative" /> },
    { name: 'Price version', value: status.price_version ?? 'not known' },
    ...(status.brakes === null ? [] : [{ name: 'Paused', value: <PausedNow brakes={status.brakes} /> }]),
    ...(status.alerts === null ? [] : [{ name: 'Alerts', value: <AlertsWaiting alerts={status.alerts} /> }]),
  ];
  return (
    <Card title="Gateway">
      <KeyValueList items={items} />
    </Card>
  );
}

function DatabaseCard({ database }: { readonly database: Status['database'] }) {
  const items: readonly KeyValue[] = [
    { name: 'State', value: <Badge tone={STATE_TONES[database.state] ?? 'neutral'}>{database.state}</Badge> },
    { name: 'PostgreSQL', value: database.version ?? '—' },
    { name: 'Size', value: <Bytes value={database.size_bytes} /> },
    { name: 'Calls', value: <Count value={database.calls} unit="calls" /> },
    { name: 'Oldest call', value: <Timestamp at={database.oldest_requested_at} never="none" /> },
    ...(database.search_days_waiting === null || database.search_days_waiting === 0
      ? []
      : [
          {
            name: 'Search',
            value: (
              <span title="A search reads them meanwhile, and takes longer">
                <Count value={database.search_days_waiting} unit="days" /> of before wait for its index
              </span>
            ),
          },
        ]),
  ];
  return (
    <Card title="Database">
      <KeyValueList items={items} />
    </Card>
  );
}

function RecordsCard({ status }: { readonly status: Status }) {
  const { records } = status;
  const number = (value: unknown) => (typeof value === 'number' ? <Count value={value} /> : '—');
  const items: readonly KeyValue[] = [
    { name: 'Stored since start', value: number(records?.rows) },
    { name: 'Of those, in safe form', value: number(records?.sanitised) },
    { name: 'Of those, interrupted', value: number(records?.interrupted) },
    {
      name: 'Waiting for',
      value:
        records === null
          ? 'the shipper does not run'
          : records.waiting_for === null
            ? 'nothing'
            : String(records.waiting_for),
    },
    {
      name: 'Spool',
      value:
        status.spool === null ? (
          'cannot be read'
        ) : (
          <>
            <Bytes value={status.spool.bytes} /> of <Bytes value={status.spool.limit_bytes} />
          </>
        ),
    },
  ];
  return (
    <Card title="Records">
      <KeyValueList items={items} />
    </Card>
  );
}

function Processes({ processes }: { readonly processes: Status['processes'] }) {
  return (
    <PlainTable
      label="Processes"
      rows={processes}
      rowKey={({ role, pid, started_at }) => `${role} ${pid} ${started_at}`}
      columns={[
        { header: 'Process', render: ({ role }) => role },
        {
          header: 'State',
          render: ({ state }) => <Badge tone={STATE_TONES[state] ?? 'neutral'}>{describeState(state)}</Badge>,
        },
        { header: 'Process id', align: 'right', render: ({ pid }) => pid ?? '—' },
        { header: 'Started', render: ({ started_at }) => <Timestamp at={started_at} /> },
        { header: 'Restarts', align: 'right', render: ({ restarts }) => restarts },
        { header: 'Last exit', render: ({ last_exit }) => last_exit ?? '—' },
        {
          header: 'Open calls',
          align: 'right',
          render: ({ metrics }) => <Count value={metrics?.open_calls ?? null} />,
        },
        { header: 'Calls', align: 'right', render: ({ metrics }) => <Count value={metrics?.calls_total ?? null} /> },
        {
          header: 'Refused',
          align: 'right',
          render: ({ metrics }) => <Count value={metrics?.rejected_total ?? null} />,
        },
        { header: 'Memory', align: 'right', render: ({ metrics }) => <Bytes value={metrics?.rss_bytes ?? null} /> },
      ]}
    />
  );
}

function Settings({ settings }: { readonly settings: Status['settings'] }) {
  return (
    <PlainTable
      label="Active settings"
      rows={settings}
      rowKey={({ name }) => name}
      columns={[
        { header: 'Setting', render: ({ name }) => <code className="font-mono text-xs">{name}</code> },
        {
          header: 'Value',
          render: ({ value }) => (
            <code className="block min-w-36 font-mono text-xs break-all">{value === null ? '—' : String(value)}</code>
          ),
        },
        { header: 'From', render: ({ source }) => source },
      ]}
    />
  );
}

export function SystemPage() {
  const { data, error, refetch } = useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => getJson('/status', {}, signal),
    refetchInterval: REFETCH_MS,
  });
  const { data: quarantine } = useQuarantine();
  const problems = data === undefined ? [] : findProblems(data, quarantine?.total ?? 0, Date.now());
  return (
    <>
      <PageHeader
        title="System"
        about={
          data !== undefined &&
          (problems.length === 0 ? (
            <Badge tone="good">everything works</Badge>
          ) : (
            <Badge tone="bad">needs attention</Badge>
          ))
        }
      />
      {error !== null && data !== undefined && (
        <StaleNote>The gateway does not answer; these are its last numbers.</StaleNote>
      )}
      {data === undefined && <Pending query={{ error, refetch }} what="the state of the system" />}
      {data !== undefined && (
        <div className="flex flex-col gap-4 px-4 pb-6">
          {problems.length > 0 && (
            <ul aria-label="Problems" className="rounded-lg border border-bad/50 bg-bad-soft p-4">
              {problems.map((problem) => (
                <li key={problem} className="py-0.5 break-words">
                  {problem}
                </li>
              ))}
            </ul>
          )}
          <div className="grid gap-4 md:grid-cols-2 2xl:grid-cols-4">
            <GatewayCard status={data} />
            <DatabaseCard database={data.database} />
            <RecordsCard status={data} />
            {data.accounts !== null && (
              <Card title="What happened to every call">
                <AccountsList accounts={data.accounts} />
              </Card>
            )}
          </div>
          <h2 className="text-sm font-semibold">Processes</h2>
          <Processes processes={data.processes} />
          <NodesTable />
          <LossesTable losses={data.accounts?.losses ?? []} />
          <QuarantineTable />
          <h2 className="text-sm font-semibold">Active settings</h2>
          <Settings settings={data.settings} />
        </div>
      )}
    </>
  );
}
