/** Who changed what, when and from where; whether the log is as it was written; and what was erased on request. */
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { type AuditEntry, type AuditFilter, auditQuery, verifyAudit } from '../../api/audit.ts';
import { allows, sessionQuery } from '../../api/session.ts';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { ChangedMembers } from '../../components/changed-members.tsx';
import { TextField } from '../../components/form-field.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { EmptyState, Pending, Problem } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { ErasuresSection } from './erasures-section.tsx';

const COLUMNS: readonly PlainColumn<AuditEntry>[] = [
  { header: 'When', render: ({ at }) => <Timestamp at={at} /> },
  {
    header: 'Who',
    render: ({ actor_name }) => (
      <span className="inline-block max-w-64 min-w-32 [overflow-wrap:anywhere]">{actor_name}</span>
    ),
  },
  { header: 'From', render: ({ from_address }) => from_address ?? '—' },
  {
    header: 'What',
    render: ({ action, subject_kind, subject_id, before, after }) => (
      <div className="flex max-w-2xl min-w-56 flex-col gap-1">
        <span className="inline-flex flex-wrap items-center gap-1.5 [overflow-wrap:anywhere]">
          <Badge tone={action === 'session.refused' ? 'warn' : 'neutral'}>{action}</Badge>{' '}
          {subject_kind.replaceAll('_', ' ')} {subject_id}
        </span>
        <ChangedMembers before={before} after={after} />
      </div>
    ),
  },
];

function Verification() {
  const verifying = useMutation({ mutationFn: verifyAudit });
  const verdict = verifying.data;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button isBusy={verifying.isPending} onClick={() => verifying.mutate()}>
        <ShieldCheck size={15} aria-hidden /> Verify the log
      </Button>
      {verdict !== undefined && (
        <p role="status" className={`min-w-0 [overflow-wrap:anywhere] ${verdict.holds ? '' : 'text-bad'}`}>
          {verdict.broken === null
            ? `All ${verdict.entries} rows are as they were written. Latest hash: ${verdict.last_hash}`
            : `Row ${verdict.broken.seq} does not hold: ${verdict.broken.why}`}
        </p>
      )}
      <Problem message={verifying.error?.message} />
    </div>
  );
}

function Entries({ filter }: { readonly filter: AuditFilter }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(auditQuery(filter));
  if (data === undefined) return <Pending query={{ error, refetch }} what="the audit log" rows={6} />;
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0)
    return (
      <EmptyState title="No such change">
        Every change of keys, prices, settings, people and jobs has a row here, and so have sign-ins.
      </EmptyState>
    );
  return (
    <div className="flex flex-col items-start gap-3">
      <div className="w-full">
        <PlainTable label="Audit log" columns={COLUMNS} rows={rows} rowKey={({ seq }) => String(seq)} />
      </div>
      {hasNextPage && (
        <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading…' : 'Older changes'}
        </Button>
      )}
    </div>
  );
}

export function AuditPage() {
  const { data: session } = useQuery(sessionQuery);
  const [filter, setFilter] = useState<AuditFilter>({ actor: '', action: '' });
  return (
    <>
      <PageHeader
        title="Audit"
        about="Who changed what, when and from where. It is kept for good, unless the operator has set retention_audit: then the oldest rows go after so many days."
      />
      <div className="flex flex-col gap-4 px-4 pb-6">
        {session !== undefined && allows(session, 'operator') && <Verification />}
        <div className="grid max-w-2xl gap-3 sm:grid-cols-2">
          <TextField
            label="Who"
            value={filter.actor}
            placeholder="a part of the name"
            maxLength={200}
            onChange={(actor) => setFilter({ ...filter, actor })}
          />
          <TextField
            label="Action"
            value={filter.action}
            placeholder="key, or key.create"
            maxLength={100}
            onChange={(action) => setFilter({ ...filter, action })}
          />
        </div>
        <Entries filter={{ actor: filter.actor.trim(), action: filter.action.trim() }} />
        <ErasuresSection />
      </div>
    </>
  );
}
