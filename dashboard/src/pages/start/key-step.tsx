/** The first step: a gateway key. A new one is shown once and used in the snippets until the page is left. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { createKey, keysQuery } from '../../api/keys.ts';
import { Button, CopyButton } from '../../components/buttons.tsx';
import { Problem } from '../../components/states.tsx';

interface KeyStepProps {
  readonly existing: number;
  readonly secret: string | null;
  readonly onCreated: (secret: string) => void;
}

export function KeyStep({ existing, secret, onCreated }: KeyStepProps) {
  const queries = useQueryClient();
  const [name, setName] = useState('first key');
  const creating = useMutation({
    mutationFn: createKey,
    onSuccess: async ({ key }) => {
      onCreated(key);
      await queries.invalidateQueries({ queryKey: keysQuery.queryKey });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate({ name });
  };
  if (secret !== null)
    return (
      <div className="flex flex-col gap-2">
        <p className="text-ink-soft">This is your key. Store it now: it is not shown again.</p>
        <div className="flex items-center gap-2 rounded-md border border-line-strong bg-surface p-2">
          <code className="min-w-0 flex-1 font-mono text-xs break-all select-all" data-secret>
            {secret}
          </code>
          <CopyButton text={secret} what="the key" label="Copy" />
        </div>
      </div>
    );
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      {existing > 0 && (
        <p className="text-ink-soft">
          There {existing === 1 ? 'is 1 key' : `are ${existing} keys`} already; the snippets read it from the variable
          TOLLGATE_KEY. Or make another:
        </p>
      )}
      <label className="flex flex-col gap-1 text-ink-soft">
        Name of the key
        <input
          value={name}
          maxLength={200}
          onChange={(event) => setName(event.target.value)}
          className="h-9 rounded-md border border-line-strong bg-surface px-3 text-ink"
        />
      </label>
      <Problem message={creating.error?.message} />
      <Button
        type="submit"
        look={existing > 0 ? 'plain' : 'primary'}
        disabled={name.trim() === '' || creating.isPending}
      >
        {creating.isPending ? 'Creating…' : 'Create key'}
      </Button>
    </form>
  );
}
