/** Alerts, where they go, and what was sent. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import {
  ALERTS_KEY,
  type Alert,
  alertsQuery,
  type Delivery,
  type Destination,
  deleteAlert,
  deleteDestination,
  deliveriesQuery,
  destinationsQuery,
  switchAlert,
  testDestination,
} from '../../api/alerts.ts';
import { Allowed, useAllowed, useSession } from '../../app/session-context.tsx';
import { Badge, type Tone } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Pending, Problem } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { DESTINATION_WORDS, describeAlert } from './alert-words.ts';
import { CreateAlertDialog } from './create-alert-dialog.tsx';
import { CreateDestinationDialog } from './create-destination-dialog.tsx';

const REFETCH_MS = 5_000;

function useAlertChange<T>(change: () => Promise<T>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => queries.invalidateQueries({ queryKey: ALERTS_KEY }),
  });
}

function AlertButtons({ alert }: { readonly alert: Alert }) {
  const toggle = useAlertChange(() => switchAlert(alert.id, !alert.is_on));
  const remove = useAlertChange(() => deleteAlert(alert.id));
  const session = useSession();
  if (alert.operator_only && session.kind !== 'operator') return null;
  return (
    <Allowed to="member">
      <span className="inline-flex flex-wrap justify-end gap-1 md:flex-nowrap">
        <Button
          aria-label={`Switch ${alert.name} ${alert.is_on ? 'off' : 'on'}`}
          isBusy={toggle.isPending}
          onClick={() => toggle.mutate()}
        >
          {alert.is_on ? 'Switch off' : 'Switch on'}
        </Button>
        <Button aria-label={`Delete ${alert.name}`} isBusy={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
      </span>
      <Problem message={toggle.error?.message ?? remove.error?.message} className="text-sm" />
    </Allowed>
  );
}

function AlertState({ alert }: { readonly alert: Alert }) {
  if (!alert.is_on) return <Badge>off</Badge>;
  if (alert.problem === null) return <Badge tone="good">on</Badge>;
  return (
    <>
      <Badge tone="bad">cannot be looked at</Badge>
      <span className="mt-1 block text-xs text-ink-soft">{alert.problem}</span>
    </>
  );
}

/** Names are only for those who may see destinations. */
function describeTold({ destinations }: Alert, names: ReadonlyMap<number, string>): string {
  if (destinations.length === 0) return 'nobody';
  const known = destinations.map((id) => names.get(id)).filter((name) => name !== undefined);
  if (known.length === destinations.length) return known.join(', ');
  return `${destinations.length} ${destinations.length === 1 ? 'destination' : 'destinations'}`;
}

function AlertsTable({ alerts }: { readonly alerts: readonly Alert[] }) {
  const mayChange = useAllowed('member');
  const { data } = useQuery({ ...destinationsQuery, enabled: mayChange });
  const names = new Map((data?.data ?? []).map(({ id, name }) => [id, name]));
  const columns: readonly PlainColumn<Alert>[] = [
    { header: 'Name', render: ({ name }) => <span className="font-medium [overflow-wrap:anywhere]">{name}</span> },
    {
      header: 'When',
      render: (alert) => <span className="text-ink-soft [overflow-wrap:anywhere]">{describeAlert(alert)}</span>,
    },
    {
      header: 'Tells',
      render: (alert) => <span className="[overflow-wrap:anywhere]">{describeTold(alert, names)}</span>,
    },
    { header: 'State', render: (alert) => <AlertState alert={alert} /> },
    ...(mayChange
      ? [{ header: 'Actions', align: 'right', render: (alert: Alert) => <AlertButtons alert={alert} /> } as const]
      : []),
  ];
  return <PlainTable label="All alerts" columns={columns} rows={alerts} rowKey={({ id }) => String(id)} />;
}

function DestinationButtons({ destination }: { readonly destination: Destination }) {
  const test = useMutation({ mutationFn: () => testDestination(destination.id) });
  const remove = useAlertChange(() => deleteDestination(destination.id));
  return (
    <>
      <span className="inline-flex flex-wrap justify-end gap-1 md:flex-nowrap">
        <Button aria-label={`Send a test to ${destination.name}`} isBusy={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
        <Button aria-label={`Delete ${destination.name}`} isBusy={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
      </span>
      {test.data?.is_sent === true && (
        <p role="status" className="text-sm text-good">
          It was taken.
        </p>
      )}
      <Problem message={test.data?.error ?? test.error?.message ?? remove.error?.message} className="text-sm" />
    </>
  );
}

const DESTINATION_COLUMNS: readonly PlainColumn<Destination>[] = [
  { header: 'Name', render: ({ name }) => <span className="font-medium [overflow-wrap:anywhere]">{name}</span> },
  { header: 'How', render: ({ kind }) => DESTINATION_WORDS[kind] },
  {
    header: 'Address',
    render: ({ address }) => <span className="text-ink-soft [overflow-wrap:anywhere]">{address}</span>,
  },
  { header: 'Actions', align: 'right', render: (destination) => <DestinationButtons destination={destination} /> },
];

function Destinations() {
  const { data, error, refetch } = useQuery(destinationsQuery);
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label="Destinations">
      <div className="mb-2 flex items-center justify-between">
        <h2 className="text-sm font-semibold">Where alerts go</h2>
        <Button onClick={() => setOpen(true)}>
          <Plus size={14} aria-hidden /> Add a destination
        </Button>
      </div>
      {data === undefined && <Pending query={{ error, refetch }} what="the destinations" rows={2} />}
      {data?.data.length === 0 && (
        <p className="text-sm text-ink-soft">
          None yet: a webhook, Slack, or mail. Without one, alerts are only listed below.
        </p>
      )}
      {data !== undefined && data.data.length > 0 && (
        <PlainTable
          label="All destinations"
          columns={DESTINATION_COLUMNS}
          rows={data.data}
          rowKey={({ id }) => String(id)}
        />
      )}
      {isOpen && <CreateDestinationDialog onClose={() => setOpen(false)} />}
    </section>
  );
}

const TONES: Readonly<Record<NonNullable<Delivery['state']>, Tone>> = {
  sent: 'good',
  waiting: 'neutral',
  failed: 'bad',
  dropped: 'bad',
};

function DeliveryState({ delivery: { state, attempts, next_at: nextAt, error } }: { readonly delivery: Delivery }) {
  if (state === null) return <span className="text-ink-faint">not sent</span>;
  return (
    <>
      <Badge tone={TONES[state]}>{state}</Badge>
      {state !== 'sent' && attempts !== null && attempts > 0 && (
        <span className="ml-2 text-xs text-ink-soft">
          {attempts} {attempts === 1 ? 'try' : 'tries'}
          {nextAt !== null && (
            <>
              , next <Timestamp at={nextAt} form="relative" />
            </>
          )}
        </span>
      )}
      {error !== null && <span className="mt-1 block text-xs text-ink-soft [overflow-wrap:anywhere]">{error}</span>}
    </>
  );
}

const COLUMNS: readonly PlainColumn<Delivery>[] = [
  { header: 'Found', render: ({ fired_at }) => <Timestamp at={fired_at} form="relative" /> },
  { header: 'What', render: ({ title }) => <span className="[overflow-wrap:anywhere]">{title}</span> },
  { header: 'To', render: ({ destination_name: name }) => name ?? 'nobody' },
  { header: 'State', render: (delivery) => <DeliveryState delivery={delivery} /> },
];

function Deliveries() {
  const { data } = useQuery({ ...deliveriesQuery, refetchInterval: REFETCH_MS });
  if (data === undefined) return null;
  return (
    <section aria-label="Latest deliveries">
      <h2 className="mb-2 text-sm font-semibold">Latest deliveries</h2>
      {data.data.length === 0 ? (
        <p className="text-sm text-ink-soft">No alert has found anything yet.</p>
      ) : (
        <PlainTable
          label="Deliveries"
          columns={COLUMNS}
          rows={data.data}
          rowKey={({ event_id, destination_id }) => `${event_id} ${destination_id}`}
        />
      )}
    </section>
  );
}

export function AlertsTab() {
  const { data, error, refetch } = useQuery({ ...alertsQuery, refetchInterval: REFETCH_MS });
  const [isOpen, setOpen] = useState(false);
  if (data === undefined) return <Pending query={{ error, refetch }} what="the alerts" />;
  return (
    <div className="flex flex-col gap-5 p-4">
      <section aria-label="Alerts">
        <div className="mb-2 flex items-center justify-between">
          <h2 className="text-sm font-semibold">Alerts</h2>
          <Allowed to="member">
            <Button look="primary" onClick={() => setOpen(true)}>
              <Plus size={14} aria-hidden /> Make an alert
            </Button>
          </Allowed>
        </div>
        {data.data.length === 0 && (
          <p className="text-sm text-ink-soft">
            None yet. An alert tells you when a brake hits, a budget is nearly spent, or a figure over the log reaches a
            threshold.
          </p>
        )}
        {data.data.length > 0 && <AlertsTable alerts={data.data} />}
      </section>
      <Allowed to="member">
        <Destinations />
      </Allowed>
      <Deliveries />
      {isOpen && <CreateAlertDialog onClose={() => setOpen(false)} />}
    </div>
  );
}
