/** Makes a gateway key: a name, until when, and its settings; then the key, once. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { createKey, keysQuery } from '../../api/keys.ts';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EXPIRIES, type ExpiryDays, expiresAfter } from '../../components/expiries.ts';
import { SelectField, TextField } from '../../components/form-field.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Problem } from '../../components/states.tsx';
import { DEFAULT_KEY_SETTINGS, KeySettingsFields, readSettings } from './key-settings-fields.tsx';

export function CreateKeyDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState<ExpiryDays>('0');
  const [settings, setSettings] = useState(DEFAULT_KEY_SETTINGS);
  const creating = useMutation({
    // A limit that cannot be read is an error of the mutation as well.
    mutationFn: async () =>
      createKey({
        name,
        ...expiresAfter(days),
        ...(settings.areBodiesKept ? {} : { bodies: 'off' as const }),
        ...readSettings(settings),
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  const close = () => {
    setName('');
    setDays('0');
    setSettings(DEFAULT_KEY_SETTINGS);
    creating.reset();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <Dialog title="Create a gateway key" isOpen={isOpen} onClose={close} isBusy={creating.isPending}>
      {creating.data !== undefined ? (
        <ShownOnce secret={creating.data.key} onDone={close} />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <TextField label="Name" value={name} maxLength={200} placeholder="checkout service" onChange={setName} />
          <SelectField label="Expires" value={days} choices={EXPIRIES} onChange={setDays} />
          <KeySettingsFields settings={settings} onChange={setSettings} />
          <Problem message={creating.error?.message} />
          <Button type="submit" look="primary" disabled={name.trim() === '' || creating.isPending}>
            {creating.isPending ? 'Creating…' : 'Create key'}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
