/** Makes a read token: for whom, for which calls, and until when; then the token, once. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { ListedKey } from '../../../../src/control/admin/key-bodies.ts';
import { createReadToken, readTokensQuery } from '../../api/read-tokens.ts';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EXPIRIES, type ExpiryDays, expiresAfter } from '../../components/expiries.ts';
import { Checkbox, SelectField, TextField } from '../../components/form-field.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Problem } from '../../components/states.tsx';

interface CreateReadTokenProps {
  readonly keys: readonly ListedKey[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

const ALL = '';

export function CreateReadTokenDialog({ keys, isOpen, onClose }: CreateReadTokenProps) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [keyId, setKeyId] = useState(ALL);
  const [days, setDays] = useState<ExpiryDays>('30');
  const [hasTexts, setHasTexts] = useState(false);
  const creating = useMutation({
    mutationFn: createReadToken,
    onSuccess: () => queries.invalidateQueries({ queryKey: readTokensQuery.queryKey }),
  });
  const close = () => {
    setName('');
    setKeyId(ALL);
    setDays('30');
    setHasTexts(false);
    creating.reset();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate({
      name,
      texts: hasTexts,
      ...(keyId === ALL ? {} : { key_id: Number(keyId) }),
      ...expiresAfter(days),
    });
  };
  const choices = keys
    .filter((key) => key.revoked_at === null)
    .map((key) => ({ value: String(key.id), label: `Calls of ${key.name}` }));
  return (
    <Dialog title="Create a read token" isOpen={isOpen} onClose={close} isBusy={creating.isPending}>
      {creating.data !== undefined ? (
        <ShownOnce
          secret={creating.data.token}
          about="This is the token. It is shown only now: the gateway stores a digest of it and cannot show it again."
          what="the token"
          onDone={close}
        />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <TextField label="Name" value={name} maxLength={200} placeholder="my agent" onChange={setName} />
          <SelectField
            label="Reads"
            value={keyId}
            choices={[{ value: ALL, label: 'All calls' }, ...choices]}
            onChange={setKeyId}
          />
          <SelectField label="Expires" value={days} choices={EXPIRIES} onChange={setDays} />
          <Checkbox label="It may read and search prompts and answers" isOn={hasTexts} onChange={setHasTexts} />
          <Problem message={creating.error?.message} />
          <Button type="submit" look="primary" disabled={name.trim() === '' || creating.isPending}>
            {creating.isPending ? 'Creating…' : 'Create read token'}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
