/** What is paused now, and what the brakes have hit before. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type BrakeHit, brakeHitsQuery, pausesQuery } from '../../api/brakes.ts';
import { Badge } from '../../components/badges.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { nameRule } from './brake-words.ts';
import { ResumeButton } from './resume-button.tsx';

const REFETCH_MS = 3_000;

export function HitState({ hit }: { readonly hit: BrakeHit }) {
  if (hit.is_paused) return <Badge tone="bad">paused</Badge>;
  if (hit.resumed_at === null) return <Badge tone="warn">alarm</Badge>;
  return (
    <span className="text-xs text-ink-soft" title={hit.resumed_by ?? undefined}>
      resumed <Timestamp at={hit.resumed_at} form="relative" />
    </span>
  );
}

function Subject({ hit }: { readonly hit: BrakeHit }) {
  if (hit.scope === 'key') return <>key {hit.value}</>;
  return (
    <Link to="/run" search={{ trace: hit.value }} className="font-mono text-xs break-all text-accent hover:underline">
      {hit.value}
    </Link>
  );
}

const COLUMNS: readonly PlainColumn<BrakeHit>[] = [
  { header: 'Found', render: ({ hit_at }) => <Timestamp at={hit_at} form="relative" /> },
  { header: 'Run or key', render: (hit) => <Subject hit={hit} /> },
  { header: 'Rule', render: ({ rule }) => nameRule(rule) },
  { header: 'Why', render: ({ reason }) => <span className="break-words">{reason}</span> },
  { header: 'State', render: (hit) => <HitState hit={hit} /> },
];

function HitCard({ hit }: { readonly hit: BrakeHit }) {
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Subject hit={hit} />
        <HitState hit={hit} />
      </div>
      <p className="text-sm break-words">{hit.reason}</p>
      <p className="text-xs text-ink-faint">
        {nameRule(hit.rule)}, <Timestamp at={hit.hit_at} form="relative" />
      </p>
    </>
  );
}

function Paused() {
  const { data } = useQuery({ ...pausesQuery, refetchInterval: REFETCH_MS });
  if (data === undefined || data.data.length === 0) return null;
  return (
    <section aria-label="Paused now">
      <h2 className="mb-2 text-sm font-semibold">Paused now</h2>
      <ul className="flex flex-col gap-2">
        {data.data.map((hit) => (
          <li
            key={hit.id}
            className="flex flex-wrap items-center gap-3 rounded-lg border border-bad/50 bg-bad-soft p-3"
          >
            <div className="min-w-0 flex-1">
              <p className="font-medium">
                {hit.scope} <Subject hit={hit} />
              </p>
              <p className="text-sm break-words text-ink-soft">
                {hit.reason}; since <Timestamp at={hit.hit_at} form="relative" />. Its calls are refused.
              </p>
            </div>
            <ResumeButton hit={hit} />
          </li>
        ))}
      </ul>
      {data.next_cursor !== null && (
        <p className="mt-2 text-sm text-ink-soft">
          These are the latest {data.data.length}; <code>tollgate brakes list --paused</code> shows all.
        </p>
      )}
    </section>
  );
}

export function HitsTab() {
  const { data, error, refetch } = useQuery({ ...brakeHitsQuery, refetchInterval: REFETCH_MS });
  if (data === undefined) return <Pending query={{ error, refetch }} what="the hits" />;
  if (data.data.length === 0)
    return (
      <EmptyState title="No brake has hit anything">
        When a run repeats itself, retries without end or spends much faster than before, it appears here.
      </EmptyState>
    );
  return (
    <div className="flex flex-col gap-5 p-4">
      <Paused />
      <section aria-label="Latest hits">
        <h2 className="mb-2 text-sm font-semibold">Latest hits</h2>
        <PlainTable
          label="Hits"
          columns={COLUMNS}
          rows={data.data}
          rowKey={({ id }) => String(id)}
          renderCard={(hit) => <HitCard hit={hit} />}
        />
      </section>
    </div>
  );
}
