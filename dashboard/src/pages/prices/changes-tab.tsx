/** The history of prices: who changed what, and when. Nothing is ever taken out of it. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { changesQuery, type RecordedChange } from '../../api/prices.ts';
import { Badge, type Tone } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { ChangedMembers } from '../../components/changed-members.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const TONES: Readonly<Record<RecordedChange['action'], Tone>> = {
  added: 'good',
  replaced: 'accent',
  removed: 'warn',
  activated: 'accent',
};

const SUBJECTS: Readonly<Record<RecordedChange['subject'], string>> = {
  override: 'price',
  mapping: 'mapping',
  multiplier: 'discount',
  catalog: 'catalog',
};

const COLUMNS: readonly PlainColumn<RecordedChange>[] = [
  { header: 'When', render: ({ changed_at }) => <Timestamp at={changed_at} /> },
  {
    header: 'What',
    render: ({ subject, action }) => (
      <span className="inline-flex gap-1.5 whitespace-nowrap">
        {SUBJECTS[subject] ?? subject} <Badge tone={TONES[action] ?? 'neutral'}>{action}</Badge>
      </span>
    ),
  },
  {
    header: 'Change',
    render: (change) => (
      <div className="flex max-w-2xl min-w-64 flex-col gap-1">
        <span className="[overflow-wrap:anywhere]">{change.summary}</span>
        <ChangedMembers before={change.before} after={change.after} />
      </div>
    ),
  },
  {
    header: 'Who',
    render: ({ actor }) => <span className="inline-block max-w-64 min-w-36 [overflow-wrap:anywhere]">{actor}</span>,
  },
];

export function ChangesTab() {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(changesQuery);
  if (data === undefined) return <Pending query={{ error, refetch }} what="the changes" rows={5} />;
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0)
    return (
      <EmptyState title="No changes yet">
        The first own price, mapping, discount or imported catalog begins the history.
      </EmptyState>
    );
  return (
    <div className="flex flex-col items-start gap-3 p-4">
      <div className="w-full">
        <PlainTable label="Changes of prices" columns={COLUMNS} rows={rows} rowKey={({ id }) => String(id)} />
      </div>
      {hasNextPage && (
        <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Older changes'}
        </Button>
      )}
    </div>
  );
}
