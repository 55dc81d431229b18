/** Changes a key's name and settings; the key itself stays as it is. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Key } from '../../../../src/control/admin/key-bodies.ts';
import { editKey, keysQuery } from '../../api/keys.ts';
import { ActionDialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/form-field.tsx';
import { BudgetsOf } from '../budgets/budgets-of.tsx';
import { KeySettingsFields, readSettings, settingsOf } from './key-settings-fields.tsx';

/** Of a time such as 2026-12-31T00:00, without seconds. */
const MINUTE_CHARS = 16;

export function EditKeyDialog({ subject, onClose }: { readonly subject: Key; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(subject.name);
  const [end, setEnd] = useState(subject.expires_at?.slice(0, MINUTE_CHARS) ?? '');
  const [settings, setSettings] = useState(() => settingsOf(subject));
  const editing = useMutation({
    mutationFn: async () =>
      editKey(subject.id, {
        ...(name.trim() === '' ? {} : { name }),
        // A key that follows the deployment goes on doing so, unless the choice was changed.
        ...(settings.areBodiesKept === (subject.bodies !== 'off')
          ? {}
          : { bodies: settings.areBodiesKept ? ('full' as const) : ('off' as const) }),
        ...(end === (subject.expires_at?.slice(0, MINUTE_CHARS) ?? '')
          ? {}
          : { expires_at: end === '' ? null : `${end.slice(0, MINUTE_CHARS)}:00Z` }),
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
      <TextField label="Expires (UTC)" hint="Empty: never" type="datetime-local" value={end} onChange={setEnd} />
      <KeySettingsFields settings={settings} onChange={setSettings} />
      <BudgetsOf scope="key" value={String(subject.id)} />
    </ActionDialog>
  );
}
