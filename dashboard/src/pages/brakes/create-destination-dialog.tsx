/** Makes a destination for alerts; the secret of a webhook is shown once. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ALERTS_KEY, createDestination, type Destination } from '../../api/alerts.ts';
import { ActionDialog, Dialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/form-field.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';

const KINDS: readonly { readonly value: Destination['kind']; readonly label: string }[] = [
  { value: 'webhook', label: 'Webhook, signed' },
  { value: 'slack', label: 'Slack' },
  { value: 'email', label: 'Mail' },
];
const ABOUT =
  'The gateway signs what it sends with this secret, as Standard Webhooks has it. It is shown only now: give it to the receiver.';

export function CreateDestinationDialog({ onClose }: { readonly onClose: () => void }) {
  const [kind, setKind] = useState<Destination['kind']>('webhook');
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const queries = useQueryClient();
  const action = useMutation({
    mutationFn: () =>
      createDestination(
        kind === 'email'
          ? { kind, name, to: address.split(',').map((one) => one.trim()) }
          : { kind, name, url: address.trim() },
      ),
    onSuccess: async ({ secret }) => {
      await queries.invalidateQueries({ queryKey: ALERTS_KEY });
      if (secret === null) onClose();
    },
  });
  const secret = action.data?.secret ?? null;
  if (secret !== null)
    return (
      <Dialog title={`Destination "${name}" is made`} isOpen onClose={onClose}>
        <ShownOnce secret={secret} about={ABOUT} what="the secret" onDone={onClose} />
      </Dialog>
    );
  return (
    <ActionDialog
      title="Add a destination"
      onClose={onClose}
      action={action}
      cancelLabel="Cancel"
      actionLabel="Add destination"
      look="primary"
      isReady={name.trim() !== '' && address.trim() !== ''}
    >
      <SelectField label="How" value={kind} choices={KINDS} onChange={setKind} />
      <TextField label="Name" value={name} maxLength={100} placeholder="Pager" onChange={setName} />
      <TextField
        label={kind === 'email' ? 'Addresses of mail, with commas' : 'Address (https://…)'}
        value={address}
        onChange={setAddress}
      />
    </ActionDialog>
  );
}
