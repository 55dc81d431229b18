/** The nodes that share the database: who lives, what each has left to store, and how its clock stands. */
import { useQuery } from '@tanstack/react-query';
import { getJson } from '../../api/client.ts';
import { ExactCount } from '../../components/amounts.tsx';
import { Badge, type Tone } from '../../components/badges.tsx';
import { PlainTable } from '../../components/plain-table.tsx';
import { ErrorState } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { describeClock, describeRemarks } from './describe-node.ts';

const REFETCH_MS = 10_000;

const TONES: Readonly<Record<string, Tone>> = { live: 'good', silent: 'bad', stopped: 'neutral' };

export function NodesTable() {
  const { data, error, refetch } = useQuery({
    queryKey: ['nodes'],
    queryFn: ({ signal }) => getJson('/nodes', {}, signal),
    refetchInterval: REFETCH_MS,
  });
  if (error !== null && data === undefined)
    return <ErrorState error={error} what="the nodes" onRetry={() => void refetch()} />;
  if (data === undefined || data.data.length === 0) return null;
  return (
    <>
      <h2 className="text-sm font-semibold">Nodes</h2>
      <PlainTable
        label="Nodes"
        rows={data.data}
        rowKey={({ id }) => id}
        columns={[
          {
            header: 'Node',
            render: ({ name, is_self }) => (
              <span className="whitespace-nowrap">
                {name}
                {is_self && <span className="text-ink-faint"> (this one)</span>}
              </span>
            ),
          },
          { header: 'Role', render: ({ role }) => role },
          { header: 'State', render: ({ state }) => <Badge tone={TONES[state] ?? 'neutral'}>{state}</Badge> },
          { header: 'Last seen', render: ({ seen_at }) => <Timestamp at={seen_at} form="relative" /> },
          { header: 'Version', render: ({ version }) => version },
          { header: 'Clock', render: ({ clock_skew_ms }) => describeClock(clock_skew_ms) },
          {
            header: 'Records waiting',
            align: 'right',
            render: ({ records_waiting }) =>
              records_waiting === null ? 'not known' : <ExactCount value={records_waiting} />,
          },
          {
            header: 'Open calls',
            align: 'right',
            render: ({ open_calls, shown_open }) => <ExactCount value={Math.max(open_calls ?? 0, shown_open)} />,
          },
          { header: 'Started', render: ({ started_at }) => <Timestamp at={started_at} /> },
          { header: 'Remarks', render: (node) => <span className="block min-w-48">{describeRemarks(node)}</span> },
        ]}
      />
    </>
  );
}
