/** Makes a gateway key: a name, until when, whether bodies are kept; then the key, once. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { createKey, keysQuery } from '../../api/keys.ts';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';

const EXPIRIES = [
  { days: 0, label: 'Never' },
  { days: 1, label: 'After 1 day' },
  { days: 7, label: 'After 7 days' },
  { days: 30, label: 'After 30 days' },
  { days: 90, label: 'After 90 days' },
  { days: 365, label: 'After 1 year' },
] as const;

const INPUT = 'h-9 w-full rounded-md border border-line-strong bg-surface px-3 text-ink';
const DAY_MS = 86_400_000;

export function CreateKeyDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState(0);
  const [areBodiesKept, setBodiesKept] = useState(true);
  const creating = useMutation({
    mutationFn: createKey,
    onSuccess: () => queries.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  const close = () => {
    setName('');
    setDays(0);
    setBodiesKept(true);
    creating.reset();
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate({
      name,
      ...(days === 0 ? {} : { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
      ...(areBodiesKept ? {} : { bodies: 'off' as const }),
    });
  };
  return (
    <Dialog title="Create a gateway key" isOpen={isOpen} onClose={close}>
      {creating.data !== undefined ? (
        <ShownOnce secret={creating.data.key} onDone={close} />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <label className="flex flex-col gap-1 text-ink-soft">
            Name
            <input
              value={name}
              maxLength={200}
              placeholder="checkout service"
              onChange={(event) => setName(event.target.value)}
              className={INPUT}
            />
          </label>
          <label className="flex flex-col gap-1 text-ink-soft">
            Stops being valid
            <select value={days} onChange={(event) => setDays(Number(event.target.value))} className={INPUT}>
              {EXPIRIES.map((expiry) => (
                <option key={expiry.days} value={expiry.days}>
                  {expiry.label}
                </option>
              ))}
            </select>
          </label>
          <label className="flex items-start gap-2">
            <input
              type="checkbox"
              className="mt-1"
              checked={areBodiesKept}
              onChange={(event) => setBodiesKept(event.target.checked)}
            />
            <span>
              Keep requests and answers of its calls
              <span className="block text-xs text-ink-faint">Off: only the figures are kept, never the texts.</span>
            </span>
          </label>
          {creating.error !== null && (
            <p role="alert" className="text-bad">
              {creating.error.message}
            </p>
          )}
          <Button type="submit" look="primary" disabled={name.trim() === '' || creating.isPending}>
            {creating.isPending ? 'Creating…' : 'Create key'}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
