/** Changes a key's name and settings; the key itself stays as it is. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Key } from '../../../../src/control/admin/key-bodies.ts';
import { editKey, keysQuery } from '../../api/keys.ts';
import { ActionDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/form-field.tsx';
import { KeySettingsFields, readSettings, settingsOf } from './key-settings-fields.tsx';

export function EditKeyDialog({ subject, onClose }: { readonly subject: Key; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(subject.name);
  const [settings, setSettings] = useState(() => settingsOf(subject));
  const editing = useMutation({
    mutationFn: () =>
      editKey(subject.id, {
        ...(name.trim() === '' ? {} : { name }),
        // A key that follows the deployment goes on doing so, unless the choice was changed.
        ...(settings.areBodiesKept === (subject.bodies !== 'off')
          ? {}
          : { bodies: settings.areBodiesKept ? ('full' as const) : ('off' as const) }),
        ...readSettings(settings),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
      onClose();
    },
  });
  return (
    <ActionDialog
      title={`Edit ${subject.name}`}
      onClose={onClose}
      action={editing}
      actionLabel="Save"
      cancelLabel="Cancel"
      look="primary"
    >
      <TextField label="Name" value={name} maxLength={200} onChange={setName} />
      <KeySettingsFields settings={settings} onChange={setSettings} />
    </ActionDialog>
  );
}
