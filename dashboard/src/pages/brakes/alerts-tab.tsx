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
import { Allowed } from '../../app/session-context.tsx';
import { Badge, type Tone } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Pending, Problem } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { describeAlert } from './alert-words.ts';
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

function AlertItem({ alert }: { readonly alert: Alert }) {
  const toggle = useAlertChange(() => switchAlert(alert.id, !alert.is_on));
  const remove = useAlertChange(() => deleteAlert(alert.id));
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line bg-panel p-3">
      <span className="font-medium">{alert.name}</span>
      <Badge tone={alert.is_on ? 'accent' : 'neutral'}>{alert.is_on ? alert.kind : `${alert.kind}, off`}</Badge>
      <span className="min-w-0 flex-1 text-sm break-words text-ink-soft">{describeAlert(alert)}</span>
      <span className="text-xs text-ink-faint">
        {alert.destinations.length === 0
          ? 'tells nobody'
          : `tells ${alert.destinations.length} destination${alert.destinations.length === 1 ? '' : 's'}`}
      </span>
      <Allowed to="member">
        <span className="flex gap-2">
          <Button isBusy={toggle.isPending} onClick={() => toggle.mutate()}>
            {alert.is_on ? 'Switch off' : 'Switch on'}
          </Button>
          <Button aria-label={`Delete ${alert.name}`} isBusy={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
        </span>
      </Allowed>
      <Problem message={alert.problem ?? toggle.error?.message ?? remove.error?.message} className="w-full text-sm" />
    </li>
  );
}

function DestinationItem({ destination }: { readonly destination: Destination }) {
  const test = useMutation({ mutationFn: () => testDestination(destination.id) });
  const remove = useAlertChange(() => deleteDestination(destination.id));
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line bg-panel p-3">
      <span className="font-medium">{destination.name}</span>
      <Badge>{destination.kind}</Badge>
      <span className="min-w-0 flex-1 text-sm break-all text-ink-soft">{destination.address}</span>
      <span className="flex gap-2">
        <Button isBusy={test.isPending} onClick={() => test.mutate()}>
          Send a test
        </Button>
        <Button aria-label={`Delete ${destination.name}`} isBusy={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
      </span>
      {test.data?.is_sent === true && (
        <p role="status" className="w-full text-sm text-good">
          It was taken.
        </p>
      )}
      <Problem message={test.data?.error ?? test.error?.message ?? remove.error?.message} className="w-full text-sm" />
    </li>
  );
}

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
        <p className="text-sm text-ink-soft">None yet: a webhook, Slack, or addresses of mail.</p>
      )}
      <ul className="flex flex-col gap-2">
        {(data?.data ?? []).map((destination) => (
          <DestinationItem key={destination.id} destination={destination} />
        ))}
      </ul>
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

const COLUMNS: readonly PlainColumn<Delivery>[] = [
  { header: 'Fired', render: ({ fired_at }) => <Timestamp at={fired_at} form="relative" /> },
  { header: 'What', render: ({ title }) => <span className="break-words">{title}</span> },
  { header: 'To', render: ({ destination_name: name }) => name ?? 'nobody' },
  { header: 'State', render: ({ state }) => (state === null ? null : <Badge tone={TONES[state]}>{state}</Badge>) },
  { header: 'Tries', align: 'right', render: ({ attempts }) => attempts },
  { header: 'Why not', render: ({ error }) => <span className="break-words">{error}</span> },
];

function Deliveries() {
  const { data } = useQuery({ ...deliveriesQuery, refetchInterval: REFETCH_MS });
  if (data === undefined || data.data.length === 0) return null;
  return (
    <section aria-label="Latest deliveries">
      <h2 className="mb-2 text-sm font-semibold">Latest deliveries</h2>
      <PlainTable
        label="Deliveries"
        columns={COLUMNS}
        rows={data.data}
        rowKey={({ event_id, destination_id }) => `${event_id} ${destination_id}`}
      />
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
            None yet. An alert tells you when a brake hits, a budget is nearly spent, or a sum over the log reaches a
            threshold.
          </p>
        )}
        <ul className="flex flex-col gap-2">
          {data.data.map((alert) => (
            <AlertItem key={alert.id} alert={alert} />
          ))}
        </ul>
      </section>
      <Allowed to="member">
        <Destinations />
      </Allowed>
      <Deliveries />
      {isOpen && <CreateAlertDialog onClose={() => setOpen(false)} />}
    </div>
  );
}
