/** Pauses a run or key by hand. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { BRAKES_KEY, type BrakeHit, pauseByHand } from '../../api/brakes.ts';
import { ActionDialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/form-field.tsx';

const SCOPES: readonly { readonly value: BrakeHit['scope']; readonly label: string }[] = [
  { value: 'run', label: 'A run, by its trace id' },
  { value: 'key', label: 'A key, by its number' },
];

export function PauseDialog({ onClose, trace = '' }: { readonly onClose: () => void; readonly trace?: string }) {
  const [scope, setScope] = useState<BrakeHit['scope']>('run');
  const [value, setValue] = useState(trace);
  const [reason, setReason] = useState('');
  const queries = useQueryClient();
  const action = useMutation({
    mutationFn: () => pauseByHand(scope, value.trim(), reason.trim()),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: BRAKES_KEY });
      onClose();
    },
  });
  return (
    <ActionDialog
      title="Pause a run or key"
      onClose={onClose}
      action={action}
      cancelLabel="Cancel"
      actionLabel="Pause"
      look="danger"
      isReady={value.trim() !== ''}
    >
      <p className="text-sm text-ink-soft">
        Its calls are refused until somebody resumes it. Calls under way end by themselves.
      </p>
      <SelectField label="What" value={scope} choices={SCOPES} onChange={setScope} />
      <TextField label={scope === 'run' ? 'Trace id' : 'Number of the key'} value={value} onChange={setValue} />
      <TextField label="Why" value={reason} maxLength={300} hint="Clients are told it." onChange={setReason} />
    </ActionDialog>
  );
}
