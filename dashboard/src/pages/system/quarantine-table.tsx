/** What was put aside, the latest first, with the reason; nothing when nothing was. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { QuarantineBody } from '../../../../src/control/admin/quarantine-resource.ts';
import { getJson } from '../../api/client.ts';
import { Bytes } from '../../components/amounts.tsx';
import { PlainTable } from '../../components/plain-table.tsx';
import { ErrorState } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const REFETCH_MS = 10_000;
const SHOWN = 50;

export function useQuarantine(): UseQueryResult<QuarantineBody> {
  return useQuery({
    queryKey: ['quarantine'],
    queryFn: ({ signal }) => getJson('/quarantine', { limit: SHOWN }, signal),
    refetchInterval: REFETCH_MS,
  });
}

export function QuarantineTable() {
  const { data, error, refetch } = useQuarantine();
  if (error !== null && data === undefined)
    return <ErrorState error={error} what="the quarantine" onRetry={() => void refetch()} />;
  if (data === undefined || data.total === 0) return null;
  return (
    <>
      <h2 className="text-sm font-semibold">Quarantine</h2>
      <p className="text-ink-soft">
        Files in the folder <code className="font-mono text-xs">quarantine</code> of the data directory
        {data.total > data.data.length && `; the latest ${data.data.length} of ${data.total}`}. They stay until you
        remove them.
      </p>
      <PlainTable
        label="Quarantine"
        rows={data.data}
        rowKey={({ file }) => file}
        columns={[
          { header: 'When', render: ({ set_aside_at }) => <Timestamp at={set_aside_at} /> },
          {
            header: 'What',
            render: ({ kind }) => (
              <span className="whitespace-nowrap">{kind === 'record' ? 'a call' : 'a file of the spool'}</span>
            ),
          },
          { header: 'Reason', render: ({ reason }) => <span className="block min-w-48">{reason ?? '—'}</span> },
          { header: 'Call', render: ({ id }) => <code className="font-mono text-xs">{id ?? '—'}</code> },
          { header: 'Called', render: ({ requested_at }) => <Timestamp at={requested_at} never="—" /> },
          { header: 'Provider', render: ({ provider }) => provider ?? '—' },
          { header: 'Outcome', render: ({ outcome, status }) => [outcome ?? '—', status ?? ''].join(' ').trim() },
          { header: 'File', render: ({ file }) => <code className="font-mono text-xs">{file}</code> },
          { header: 'Size', align: 'right', render: ({ bytes }) => <Bytes value={bytes} /> },
        ]}
      />
    </>
  );
}
