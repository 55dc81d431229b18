/** A person's own password. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { sessionQuery, setPassword } from '../api/session.ts';
import { ActionDialog } from '../components/dialog.tsx';
import { TextField } from '../components/form-field.tsx';

const MIN_LENGTH = 12;

export function PasswordDialog({
  hasPassword,
  onClose,
}: {
  readonly hasPassword: boolean;
  readonly onClose: () => void;
}) {
  const queries = useQueryClient();
  const [current, setCurrent] = useState('');
  const [password, setNew] = useState('');
  const setting = useMutation({
    mutationFn: () => setPassword(password, hasPassword ? current : null),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      onClose();
    },
  });
  return (
    <ActionDialog
      title={hasPassword ? 'Change your password' : 'Set a password'}
      onClose={onClose}
      action={setting}
      actionLabel="Save"
      cancelLabel="Cancel"
      look="primary"
      isReady={password.length >= MIN_LENGTH && (!hasPassword || current !== '')}
    >
      {hasPassword && <TextField label="Present password" type="password" value={current} onChange={setCurrent} />}
      <TextField
        label="New password"
        type="password"
        value={password}
        hint={`At least ${MIN_LENGTH} characters. Your other sessions end.`}
        onChange={setNew}
      />
    </ActionDialog>
  );
}
