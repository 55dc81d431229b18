/** Limits beside those of keys: of all calls of the account, and of each value of a metadata key. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { type CallLimit, createLimit, deleteLimit, editLimit, limitsQuery } from '../../api/limits.ts';
import { Allowed, useAllowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { ActionDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/form-field.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { Pending } from '../../components/states.tsx';
import { LimitBars, LimitFields } from './limit-fields.tsx';
import { readLimits, typedLimitsOf } from './typed-limits.ts';

const REFETCH_MS = 5_000;
const NO_LIMITS = { concurrent: '', requests: '', tokens: '' };

type Opened = { readonly what: 'create' } | { readonly what: 'edit' | 'delete'; readonly subject: CallLimit };

function describeCalls({ metadata_key: key, metadata_value: value }: CallLimit): string {
  if (key === null) return 'all calls of the account';
  return value === null ? `each value of ${key}` : `${key} ${value}`;
}

function listColumns(open: (opened: Opened) => void, mayChange: boolean): readonly PlainColumn<CallLimit>[] {
  const columns: readonly PlainColumn<CallLimit>[] = [
    { header: 'Whose calls', render: (limit) => <span className="font-medium">{describeCalls(limit)}</span> },
    {
      header: 'In use on this node',
      render: (limit) =>
        limit.metadata_key !== null && limit.metadata_value === null ? (
          <ValueUse limit={limit} />
        ) : (
          <LimitBars limits={limit} use={limit.use} />
        ),
    },
    {
      header: 'Actions',
      align: 'right',
      render: (limit) => (
        <span className="inline-flex gap-1">
          <Button
            onClick={() => open({ what: 'edit', subject: limit })}
            aria-label={`Edit the limit of ${describeCalls(limit)}`}
          >
            Edit
          </Button>
          <Button
            look="danger"
            onClick={() => open({ what: 'delete', subject: limit })}
            aria-label={`Remove the limit of ${describeCalls(limit)}`}
          >
            Remove
          </Button>
        </span>
      ),
    },
  ];
  return mayChange ? columns : columns.slice(0, -1);
}

/** The values of which the most is in use; the limit alone while none is. */
function ValueUse({ limit }: { readonly limit: CallLimit }) {
  if (limit.values.length === 0) return <LimitBars limits={limit} use={{ concurrent: 0, requests: 0, tokens: 0 }} />;
  return (
    <ul className="flex flex-col gap-1">
      {limit.values.slice(0, 3).map((use) => (
        <li key={use.value ?? '\n'}>
          <span className="text-xs">{use.value ?? 'all other values together'}</span>
          <LimitBars limits={limit} use={use} />
        </li>
      ))}
    </ul>
  );
}

export function LimitsSection() {
  const { data, error, refetch } = useQuery({ ...limitsQuery, refetchInterval: REFETCH_MS });
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const mayChange = useAllowed('owner');
  return (
    <section aria-label="Limits" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 className="text-sm font-semibold">Limits of the account and of metadata</h2>
        <span className="text-ink-soft">They hold for the calls of all keys; a key may have limits of its own.</span>
        <Allowed to="owner">
          <span className="ml-auto">
            <Button onClick={() => setOpened({ what: 'create' })}>
              <Plus size={15} aria-hidden /> Add a limit
            </Button>
          </span>
        </Allowed>
      </div>
      {(data === undefined || error !== null) && <Pending query={{ error, refetch }} what="the limits" rows={2} />}
      {data?.data.length === 0 && (
        <p className="text-ink-faint">None: calls are limited by their keys alone, and by the providers.</p>
      )}
      {data !== undefined && data.data.length > 0 && (
        <PlainTable
          label="Limits and what is in use of them"
          columns={listColumns(setOpened, mayChange)}
          rows={data.data}
          rowKey={(limit) => String(limit.id)}
        />
      )}
      {opened?.what === 'create' && <LimitDialog subject={null} onClose={close} />}
      {opened?.what === 'edit' && <LimitDialog subject={opened.subject} onClose={close} />}
      {opened?.what === 'delete' && <RemoveLimitDialog subject={opened.subject} onClose={close} />}
    </section>
  );
}

interface LimitDialogProps<T> {
  readonly subject: T;
  readonly onClose: () => void;
}

function LimitDialog({ subject, onClose }: LimitDialogProps<CallLimit | null>) {
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const [limits, setLimits] = useState(subject === null ? NO_LIMITS : typedLimitsOf(subject));
  const saving = useMutation({
    mutationFn: () => {
      const most = readLimits(limits);
      if (subject !== null) return editLimit(subject.id, most);
      return createLimit({
        ...most,
        metadata_key: key.trim() === '' ? null : key.trim(),
        metadata_value: value.trim() === '' ? null : value.trim(),
      });
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: limitsQuery.queryKey });
      onClose();
    },
  });
  return (
    <ActionDialog
      title={subject === null ? 'Add a limit' : `Edit the limit of ${describeCalls(subject)}`}
      onClose={onClose}
      action={saving}
      actionLabel="Save"
      cancelLabel="Cancel"
      look="primary"
    >
      {subject === null && (
        <>
          <TextField
            label="Metadata key"
            hint="Each of its values is limited by itself. Empty: all calls of the account together."
            value={key}
            maxLength={200}
            placeholder="User-Id"
            onChange={setKey}
          />
          <TextField
            label="For this value alone"
            hint="It then has this limit instead of the one for each value."
            value={value}
            maxLength={1000}
            isDisabled={key.trim() === ''}
            onChange={setValue}
          />
        </>
      )}
      <LimitFields limits={limits} onChange={setLimits} />
    </ActionDialog>
  );
}

function RemoveLimitDialog({ subject, onClose }: LimitDialogProps<CallLimit>) {
  const queries = useQueryClient();
  const removing = useMutation({
    mutationFn: () => deleteLimit(subject.id),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: limitsQuery.queryKey });
      onClose();
    },
  });
  return (
    <ActionDialog
      title={`Remove the limit of ${describeCalls(subject)}?`}
      onClose={onClose}
      action={removing}
      actionLabel="Remove limit"
      cancelLabel="Keep it"
      look="danger"
    >
      <p className="text-ink-soft">Its calls are then limited by their keys alone, and by the providers.</p>
    </ActionDialog>
  );
}
