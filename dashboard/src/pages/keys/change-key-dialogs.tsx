/** Revoking and rotating a key: what it does, said before it is done. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Key } from '../../../../src/control/admin/key-bodies.ts';
import { keysQuery, revokeKey, rotateKey } from '../../api/keys.ts';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/form-field.tsx';
import { RevokeDialog } from '../../components/revoke-dialog.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Problem } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

interface ChangeKeyProps {
  readonly subject: Key;
  readonly onClose: () => void;
}

export function RevokeKeyDialog({ subject, onClose }: ChangeKeyProps) {
  return (
    <RevokeDialog
      name={subject.name}
      what="key"
      revoke={() => revokeKey(subject.id)}
      queryKey={keysQuery.queryKey}
      onClose={onClose}
    >
      <p className="text-ink-soft">
        Calls with this key are refused within a second. <OpenCallsNote /> This cannot be undone; the records stay.
      </p>
      <p>
        Last used: <Timestamp at={subject.last_used_at} form="relative" never="never" />
      </p>
    </RevokeDialog>
  );
}

function OpenCallsNote() {
  return (
    <>
      Streams and websockets that are open then end within that second; other open calls finish, unless the gateway runs
      with TOLLGATE_ON_REVOKE=cut.
    </>
  );
}

/** By their seconds. */
const OVERLAPS = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'After 1 hour' },
  { value: '86400', label: 'After 24 hours' },
  { value: '604800', label: 'After 7 days' },
  { value: '2592000', label: 'After 30 days' },
] as const;

export function RotateKeyDialog({ subject, onClose }: ChangeKeyProps) {
  const queries = useQueryClient();
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]['value']>('86400');
  const rotating = useMutation({
    mutationFn: () => rotateKey(subject.id, Number(overlap)),
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  return (
    <Dialog title={`Rotate ${subject.name}`} isOpen onClose={onClose} isBusy={rotating.isPending}>
      {rotating.data !== undefined ? (
        <ShownOnce secret={rotating.data.key} onDone={onClose} />
      ) : (
        <div className="flex flex-col gap-3">
          <p className="text-ink-soft">
            A new key with the same name and settings takes over. Until the old one stops, both work, and “last used”
            shows which clients have not moved yet. When it stops, its calls are refused within a second.{' '}
            <OpenCallsNote />
          </p>
          <SelectField label="The old key stops" value={overlap} choices={OVERLAPS} onChange={setOverlap} />
          <Problem message={rotating.error?.message} />
          <Button look="primary" disabled={rotating.isPending} onClick={() => rotating.mutate()}>
            Create the new key
          </Button>
        </div>
      )}
    </Dialog>
  );
}
