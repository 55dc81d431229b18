/** What was erased on request, and asking for it: a count first, then the deed. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Erasure, type ErasureTarget, erase, erasuresQuery } from '../../api/audit.ts';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/form-field.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Pending, Problem } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const POLL_MS = 1_000;

const KINDS = [
  { value: 'run', label: 'One run, by its trace id' },
  { value: 'metadata', label: 'All calls with a metadata value' },
] as const;

function readState({ dry_run, ended_at }: Erasure): string {
  if (dry_run) return 'counted';
  return ended_at === null ? 'under way' : 'erased';
}

const COLUMNS: readonly PlainColumn<Erasure>[] = [
  { header: 'Asked', render: ({ asked_at }) => <Timestamp at={asked_at} /> },
  { header: 'By', render: ({ asked_by }) => asked_by },
  { header: 'What', render: ({ metadata_key }) => (metadata_key === null ? 'a run' : `a value of ${metadata_key}`) },
  {
    header: 'SHA-256 of it',
    render: ({ target_sha256 }) => <code className="font-mono text-xs">{target_sha256.slice(0, 16)}…</code>,
  },
  { header: 'Calls', align: 'right', render: ({ calls }) => calls },
  { header: 'State', render: (erasure) => <Badge tone="neutral">{readState(erasure)}</Badge> },
];

function useErasing(target: ErasureTarget, isDryRun: boolean) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => erase(target, isDryRun),
    onSuccess: () => queries.invalidateQueries({ queryKey: erasuresQuery.queryKey }),
  });
}

function EraseDialog({ onClose }: { readonly onClose: () => void }) {
  const [kind, setKind] = useState<'run' | 'metadata'>('run');
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const target: ErasureTarget = kind === 'run' ? { trace_id: value } : { metadata_key: key, value };
  const counting = useErasing(target, true);
  const erasing = useErasing(target, false);
  const { data } = useQuery({ ...erasuresQuery, refetchInterval: POLL_MS });
  const counted = data?.data.find(({ id }) => id === counting.data?.id);
  const change = (set: (text: string) => void) => (text: string) => {
    counting.reset();
    set(text);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (counted?.ended_at == null) counting.mutate();
    else erasing.mutate(undefined, { onSuccess: onClose });
  };
  const isCounted = counted !== undefined && counted.ended_at !== null;
  return (
    <Dialog title="Erase what calls say" isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <p className="text-ink-soft">
          Texts, metadata, names and addresses go for good; what the calls cost stays, and so does every sum.
        </p>
        <SelectField
          label="What"
          value={kind}
          choices={KINDS}
          onChange={(chosen) => {
            counting.reset();
            setKind(chosen);
          }}
        />
        {kind === 'metadata' && (
          <TextField label="Metadata key" value={key} maxLength={128} onChange={change(setKey)} />
        )}
        <TextField
          label={kind === 'run' ? 'Trace id' : 'Value'}
          value={value}
          maxLength={4_096}
          onChange={change(setValue)}
        />
        {isCounted && <p role="status">{counted.calls} calls are meant.</p>}
        <Problem message={counting.error?.message ?? erasing.error?.message} />
        <Button
          type="submit"
          look={isCounted ? 'danger' : 'primary'}
          disabled={value === '' || (kind === 'metadata' && key === '')}
          isBusy={counting.isPending || erasing.isPending || (counting.isSuccess && !isCounted)}
        >
          {isCounted ? `Erase ${counted.calls} calls for good` : 'Count the calls'}
        </Button>
      </form>
    </Dialog>
  );
}

export function ErasuresSection() {
  const { data, error, refetch } = useQuery({
    ...erasuresQuery,
    refetchInterval: ({ state }) => (state.data?.data.some((erasure) => erasure.ended_at === null) ? POLL_MS : false),
  });
  const [isOpen, setOpen] = useState(false);
  return (
    <section aria-label="Erasures" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-x-3 gap-y-1">
        <h2 className="text-base font-semibold">Erased on request</h2>
        <p className="text-ink-soft">One run’s or one user’s calls, without what they said.</p>
        <span className="ml-auto">
          <Button onClick={() => setOpen(true)}>Erase…</Button>
        </span>
      </div>
      {data === undefined && <Pending query={{ error, refetch }} what="the erasures" rows={2} />}
      {data?.data.length === 0 && <p className="text-ink-soft">Nothing was erased yet.</p>}
      {data !== undefined && data.data.length > 0 && (
        <PlainTable label="List of erasures" columns={COLUMNS} rows={data.data} rowKey={({ id }) => String(id)} />
      )}
      {isOpen && <EraseDialog onClose={() => setOpen(false)} />}
    </section>
  );
}
