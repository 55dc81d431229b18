/** How long the account keeps its calls and bodies: what holds, and, in a dialog, what is deleted when it keeps less. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type AccountRetention, changeRetention, retentionQuery } from '../../api/people.ts';
import { useSession } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/form-field.tsx';
import { KeyValueList } from '../../components/key-value-list.tsx';
import { Pending, Problem } from '../../components/states.tsx';

const formatDays = (days: number) => `${days} ${days === 1 ? 'day' : 'days'}`;

function describe(own: number | null, gateway: number): string {
  const days = Math.min(own ?? gateway, gateway);
  return own === null
    ? `${formatDays(days)}, as the gateway`
    : `${formatDays(days)} (the gateway: ${formatDays(gateway)})`;
}

export function RetentionSection() {
  const { account } = useSession();
  const { data, error, refetch } = useQuery(retentionQuery(account.id));
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section aria-label="Retention">
      <div className="mb-2 flex flex-wrap items-end gap-x-3 gap-y-1">
        <div className="min-w-0 flex-1">
          <h2 className="text-sm font-semibold">Retention</h2>
          <p className="text-xs text-ink-faint">
            How long this account keeps its calls. Whole days (UTC) that are older are deleted, within an hour or so.
          </p>
        </div>
        {data !== undefined && <Button onClick={() => setIsOpen(true)}>Change retention</Button>}
      </div>
      {(data === undefined || error !== null) && <Pending query={{ error, refetch }} what="the retention" rows={2} />}
      {data !== undefined && (
        <KeyValueList
          items={[
            { name: 'Calls', value: describe(data.retention_rows, data.gateway_rows) },
            { name: 'Bodies and texts', value: describe(data.retention_bodies, data.gateway_bodies) },
          ]}
        />
      )}
      {data !== undefined && isOpen && (
        <RetentionDialog accountId={account.id} retention={data} onClose={() => setIsOpen(false)} />
      )}
    </section>
  );
}

/** Undefined for what is no number of days; null for none, which is as the gateway does. */
function readDays(text: string, most: number): number | null | undefined {
  if (text.trim() === '') return null;
  const days = /^\s*\d{1,5}\s*$/.test(text) ? Number(text) : 0;
  return days >= 1 && days <= most ? days : undefined;
}

interface RetentionDialogProps {
  readonly accountId: number;
  readonly retention: AccountRetention;
  readonly onClose: () => void;
}

function RetentionDialog({ accountId, retention, onClose }: RetentionDialogProps) {
  const { gateway_rows: mostRows, gateway_bodies: mostBodies } = retention;
  const [rowsText, setRowsText] = useState(String(retention.retention_rows ?? ''));
  const [bodiesText, setBodiesText] = useState(String(retention.retention_bodies ?? ''));
  const queries = useQueryClient();
  const changing = useMutation({
    mutationFn: (days: Parameters<typeof changeRetention>[1]) => changeRetention(accountId, days),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: retentionQuery(accountId).queryKey });
      onClose();
    },
  });
  const rows = readDays(rowsText, mostRows);
  const bodies = readDays(bodiesText, mostBodies);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (rows !== undefined && bodies !== undefined) changing.mutate({ retention_rows: rows, retention_bodies: bodies });
  };
  const problemOf = (days: number | null | undefined, most: number) =>
    days === undefined ? `A whole number of days from 1 to ${most}, or nothing` : null;
  return (
    <Dialog title="Change retention" isOpen onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-3">
        <TextField
          label="Days that calls are kept"
          value={rowsText}
          onChange={setRowsText}
          inputMode="numeric"
          hint={`Nothing: ${formatDays(mostRows)}, as the gateway. It cannot be more.`}
          problem={problemOf(rows, mostRows)}
        />
        <TextField
          label="Days that bodies and texts are kept"
          value={bodiesText}
          onChange={setBodiesText}
          inputMode="numeric"
          hint={`Nothing: ${formatDays(mostBodies)}, as the gateway.`}
          problem={problemOf(bodies, mostBodies)}
        />
        <p className="text-ink-soft">
          What is older is deleted for good, within an hour or so, and a backup of before is the only way back. The sums
          of runs that are gone wholly stay; costs by hour lose what went.
        </p>
        <Problem message={changing.error?.message} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            look="primary"
            disabled={changing.isPending || rows === undefined || bodies === undefined}
          >
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
