/** Credentials of providers that the gateway keeps for calls by an alias: set, listed without themselves, deleted. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { PROVIDER_NAMES, type ProviderName } from '../../../../src/providers/registry.ts';
import { credentialsQuery, deleteCredential, type KeptCredential, setCredential } from '../../api/credentials.ts';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { ActionDialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/form-field.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const PROVIDERS = PROVIDER_NAMES.map((name) => ({ value: name, label: name }));

function listColumns(onDelete: (kept: KeptCredential) => void): readonly PlainColumn<KeptCredential>[] {
  return [
    { header: 'Provider', render: ({ provider }) => provider },
    { header: 'Alias', render: ({ alias }) => <span className="font-medium">{alias}</span> },
    { header: 'Credential', render: ({ last4 }) => <code className="font-mono text-xs">{`…${last4}`}</code> },
    { header: 'Sent to', render: ({ origin }) => <span className="[overflow-wrap:anywhere]">{origin}</span> },
    {
      header: 'State',
      render: ({ state, problem }) => (
        <span className="inline-flex max-w-md flex-col items-start gap-1">
          <Badge tone={state === 'usable' ? 'good' : 'bad'}>{state === 'usable' ? 'usable' : 'not usable'}</Badge>
          {problem !== null && <span className="text-xs text-ink-soft">{problem}</span>}
        </span>
      ),
    },
    { header: 'Set', render: ({ changed_at }) => <Timestamp at={changed_at} form="relative" /> },
    { header: 'By', render: ({ changed_by }) => changed_by },
    {
      header: 'Actions',
      align: 'right',
      render: (kept) => (
        <Button look="danger" aria-label={`Delete ${kept.provider} ${kept.alias}`} onClick={() => onDelete(kept)}>
          Delete
        </Button>
      ),
    },
  ];
}

function useChange<T>(change: () => Promise<T>, onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: credentialsQuery.queryKey });
      onDone();
    },
  });
}

function SetDialog({ onClose }: { readonly onClose: () => void }) {
  const [provider, setProvider] = useState<ProviderName>('openai');
  const [alias, setAlias] = useState('');
  const [value, setValue] = useState('');
  return (
    <ActionDialog
      title="Keep a credential"
      onClose={onClose}
      action={useChange(() => setCredential(provider, alias.trim(), value.trim()), onClose)}
      actionLabel="Keep it"
      cancelLabel="Cancel"
      look="primary"
      isReady={alias.trim() !== '' && value.trim() !== ''}
    >
      <SelectField label="Provider" value={provider} choices={PROVIDERS} onChange={setProvider} />
      <TextField
        label="Alias"
        value={alias}
        maxLength={100}
        hint="One that the operator configured; calls name it in X-Gateway-Provider-Alias."
        onChange={setAlias}
      />
      <TextField
        label="Credential"
        type="password"
        value={value}
        maxLength={8_192}
        hint="It is sealed, sent to the alias’s address alone, and never shown again."
        onChange={setValue}
      />
    </ActionDialog>
  );
}

function DeleteDialog({ kept, onClose }: { readonly kept: KeptCredential; readonly onClose: () => void }) {
  return (
    <ActionDialog
      title={`Delete the credential of ${kept.provider} ${kept.alias}?`}
      onClose={onClose}
      action={useChange(() => deleteCredential(kept.provider, kept.alias), onClose)}
      actionLabel="Delete it"
      cancelLabel="Keep it"
      look="danger"
    >
      <p>Calls by this alias then need a credential of their own.</p>
    </ActionDialog>
  );
}

export function CredentialsPage() {
  const { data, error, refetch } = useQuery(credentialsQuery);
  const [opened, setOpened] = useState<'set' | KeptCredential | null>(null);
  const close = () => setOpened(null);
  const add = (
    <Button look="primary" onClick={() => setOpened('set')}>
      <Plus size={15} aria-hidden /> Keep a credential
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Credentials"
        about="Providers’ credentials that the gateway adds to calls by an alias. Without one here, clients send their own."
        actions={add}
      />
      <div className="px-4 pb-6">
        {data === undefined && <Pending query={{ error, refetch }} what="the credentials" rows={3} />}
        {data?.data.length === 0 && (
          <EmptyState title="No credential is kept" actions={add}>
            Clients send their own, which pass through and are kept nowhere. Keep one here if keys of the gateway should
            be enough for them.
          </EmptyState>
        )}
        {data !== undefined && data.data.length > 0 && (
          <PlainTable
            label="Credentials"
            columns={listColumns(setOpened)}
            rows={data.data}
            rowKey={({ provider, alias }) => `${provider} ${alias}`}
          />
        )}
      </div>
      {opened === 'set' && <SetDialog onClose={close} />}
      {opened !== null && opened !== 'set' && <DeleteDialog kept={opened} onClose={close} />}
    </>
  );
}
