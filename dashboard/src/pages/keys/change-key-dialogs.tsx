/** Revoking and rotating a key: what it does, said before it is done. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Key } from '../../../../src/admin/keys-resource.ts';
import { keysQuery, revokeKey, rotateKey } from '../../api/keys.ts';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

interface ChangeKeyProps {
  readonly subject: Key;
  readonly onClose: () => void;
}

export function RevokeKeyDialog({ subject, onClose }: ChangeKeyProps) {
  const queries = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => revokeKey(subject.id),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
      onClose();
    },
  });
  return (
    <Dialog title={`Revoke ${subject.name}?`} isOpen onClose={onClose}>
      <div className="flex flex-col gap-3">
        <p className="text-ink-soft">
          Calls with this key are refused from the next second on. Calls that are open now end as they would have. This
          cannot be undone; the records stay.
        </p>
        <p>
          Last used: <Timestamp at={subject.last_used_at} form="relative" never="never" />
        </p>
        {revoking.error !== null && (
          <p role="alert" className="text-bad">
            {revoking.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" disabled={revoking.isPending} onClick={() => revoking.mutate()}>
            Revoke key
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

const OVERLAPS = [
  { seconds: 0, label: 'At once' },
  { seconds: 3_600, label: 'After 1 hour' },
  { seconds: 86_400, label: 'After 24 hours' },
  { seconds: 604_800, label: 'After 7 days' },
  { seconds: 2_592_000, label: 'After 30 days' },
] as const;

export function RotateKeyDialog({ subject, onClose }: ChangeKeyProps) {
  const queries = useQueryClient();
  const [overlapSeconds, setOverlapSeconds] = useState(86_400);
  const rotating = useMutation({
    mutationFn: () => rotateKey(subject.id, overlapSeconds),
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  return (
    <Dialog title={`Rotate ${subject.name}`} isOpen onClose={onClose}>
      {rotating.data !== undefined ? (
        <ShownOnce secret={rotating.data.key} onDone={onClose} />
      ) : (
        <div className="flex flex-col gap-3">
          <p className="text-ink-soft">
            A new key with the same name and settings takes over. Until the old one stops, both work, and “last used”
            shows which clients have not moved yet.
          </p>
          <label className="flex flex-col gap-1 text-ink-soft">
            The old key stops
            <select
              value={overlapSeconds}
              onChange={(event) => setOverlapSeconds(Number(event.target.value))}
              className="h-9 rounded-md border border-line-strong bg-surface px-3 text-ink"
            >
              {OVERLAPS.map(({ seconds, label }) => (
                <option key={seconds} value={seconds}>
                  {label}
                </option>
              ))}
            </select>
          </label>
          {rotating.error !== null && (
            <p role="alert" className="text-bad">
              {rotating.error.message}
            </p>
          )}
          <Button look="primary" disabled={rotating.isPending} onClick={() => rotating.mutate()}>
            Create the new key
          </Button>
        </div>
      )}
    </Dialog>
  );
}
