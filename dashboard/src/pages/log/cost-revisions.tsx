/** The history of a call's cost: what it was before each re-pricing, what it became, and why. Nothing when it has none. */
import { useQuery } from '@tanstack/react-query';
import { type CostRevision, revisionsQuery } from '../../api/reprice.ts';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

/** Without a total the known part is shown as "at least". */
function describeCost(total: string | null, known: string | null): string {
  if (total !== null) return `$${total}`;
  return known === null || known === '0' ? '—' : `≥ $${known}`;
}

const COLUMNS: readonly PlainColumn<CostRevision>[] = [
  { header: 'When', render: ({ revised_at }) => <Timestamp at={revised_at} /> },
  {
    header: 'Cost',
    align: 'right',
    render: (revision) => (
      <span className="num">
        {describeCost(revision.old_total_cost, revision.old_known_cost)} <span className="text-ink-faint">→</span>{' '}
        {describeCost(revision.new_total_cost, revision.new_known_cost)}
      </span>
    ),
  },
  {
    header: 'Status',
    render: ({ old_cost_status: old, new_cost_status: fresh }) => (
      <span className="whitespace-nowrap">{old === fresh ? fresh : `${old} → ${fresh}`}</span>
    ),
  },
  {
    header: 'Billed as',
    render: ({ old_billing_model: old, new_billing_model: fresh }) => (
      <span className="inline-block max-w-64 [overflow-wrap:anywhere]">
        {old === fresh ? (fresh ?? '—') : `${old ?? '—'} → ${fresh ?? '—'}`}
      </span>
    ),
  },
  {
    header: 'Why',
    render: ({ reason, job_id }) => (
      <span className="inline-block max-w-72 min-w-32 [overflow-wrap:anywhere]">
        {reason} <span className="text-xs text-ink-faint">(job {job_id})</span>
      </span>
    ),
  },
  {
    header: 'Price version',
    render: ({ old_price_version, new_price_version }) => (
      <span className="font-mono text-xs whitespace-nowrap text-ink-soft">
        {old_price_version ?? '—'} → {new_price_version ?? '—'}
      </span>
    ),
  },
];

export function CostRevisions({ logId }: { readonly logId: string }) {
  const { data, error } = useQuery(revisionsQuery(logId));
  if (error !== null && data === undefined)
    return <p className="text-ink-soft">It cannot be told whether it was priced again: {error.message}</p>;
  if (data === undefined || data.data.length === 0) return null;
  return (
    <section aria-label="Repriced" className="flex flex-col gap-2">
      <h3 className="font-medium">Repriced</h3>
      <PlainTable label="Earlier costs" columns={COLUMNS} rows={data.data} rowKey={({ job_id }) => String(job_id)} />
    </section>
  );
}
