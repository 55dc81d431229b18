/** API tokens of the account: for programs, with scopes. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { SCOPE_WORDS } from '../../../../src/control/admin/access-words.ts';
import { type ApiToken, apiTokensQuery, createApiToken, revokeApiToken, type Scope } from '../../api/people.ts';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { ActionDialog, Dialog } from '../../components/dialog.tsx';
import { EXPIRIES, type ExpiryDays, expiresAfter } from '../../components/expiries.ts';
import { Checkbox, SelectField, TextField } from '../../components/form-field.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Pending, Problem } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const SCOPES: readonly Scope[] = ['read', 'bodies', 'keys', 'prices', 'manage'];

function readState({ revoked_at, expires_at }: ApiToken) {
  if (revoked_at !== null) return { word: 'revoked', tone: 'neutral' } as const;
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return { word: 'expired', tone: 'neutral' } as const;
  return { word: 'active', tone: 'good' } as const;
}

function listColumns(onRevoke: (token: ApiToken) => void): readonly PlainColumn<ApiToken>[] {
  return [
    { header: 'Name', render: (token) => <span className="font-medium">{token.name}</span> },
    { header: 'Token', render: (token) => <code className="font-mono text-xs">{`tga_…${token.last4}`}</code> },
    { header: 'Scopes', render: (token) => token.scopes.join(', ') },
    {
      header: 'State',
      render: (token) => {
        const { word, tone } = readState(token);
        return <Badge tone={tone}>{word}</Badge>;
      },
    },
    { header: 'Made by', render: (token) => token.created_by },
    { header: 'Last used', render: (token) => <Timestamp at={token.last_used_at} form="relative" never="never" /> },
    { header: 'Expires', render: (token) => <Timestamp at={token.expires_at} never="never" /> },
    {
      header: 'Actions',
      align: 'right',
      render: (token) =>
        token.revoked_at === null && (
          <Button look="danger" aria-label={`Revoke ${token.name}`} onClick={() => onRevoke(token)}>
            Revoke
          </Button>
        ),
    },
  ];
}

export function ApiTokens() {
  const { data, error, refetch } = useQuery(apiTokensQuery);
  const [opened, setOpened] = useState<'create' | ApiToken | null>(null);
  const close = () => setOpened(null);
  return (
    <section aria-label="API tokens">
      <div className="mb-2 flex flex-wrap items-end gap-x-3 gap-y-1">
        <div className="min-w-0 flex-1">
          <h2 className="text-sm font-semibold">API tokens</h2>
          <p className="text-xs text-ink-faint">
            Programs send one as Authorization: Bearer to this address. It opens this account alone.
          </p>
        </div>
        <Button onClick={() => setOpened('create')}>
          <Plus size={15} aria-hidden /> Create API token
        </Button>
      </div>
      {(data === undefined || error !== null) && <Pending query={{ error, refetch }} what="the API tokens" rows={2} />}
      {data?.data.length === 0 && (
        <p className="rounded-lg border border-dashed border-line px-3 py-4 text-center text-ink-faint">None yet.</p>
      )}
      {data !== undefined && data.data.length > 0 && (
        <PlainTable
          label="List of API tokens"
          columns={listColumns(setOpened)}
          rows={data.data}
          rowKey={(token) => String(token.id)}
        />
      )}
      {opened === 'create' && <CreateTokenDialog onClose={close} />}
      {opened !== null && opened !== 'create' && <RevokeTokenDialog subject={opened} onClose={close} />}
    </section>
  );
}

function useTokenChange<T>(change: () => Promise<T>, onDone?: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: apiTokensQuery.queryKey });
      onDone?.();
    },
  });
}

function CreateTokenDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState<ExpiryDays>('90');
  const [scopes, setScopes] = useState<readonly Scope[]>(['read']);
  const creating = useTokenChange(() => createApiToken({ name, scopes, ...expiresAfter(days) }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate();
  };
  return (
    <Dialog title="Create an API token" isOpen onClose={onClose} isBusy={creating.isPending}>
      {creating.data !== undefined ? (
        <ShownOnce
          secret={creating.data.token}
          about="This is the token. It is shown only now: the gateway stores a digest of it."
          what="the token"
          onDone={onClose}
        />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <TextField label="What it is for" value={name} maxLength={200} onChange={setName} />
          <fieldset className="flex flex-col gap-1">
            <legend className="mb-1 text-xs text-ink-soft">It may</legend>
            {SCOPES.map((scope) => (
              <Checkbox
                key={scope}
                label={`${scope}: ${SCOPE_WORDS[scope]}`}
                isOn={scopes.includes(scope)}
                onChange={(isOn) => setScopes((was) => (isOn ? [...was, scope] : was.filter((one) => one !== scope)))}
              />
            ))}
          </fieldset>
          <SelectField label="Expires" value={days} choices={EXPIRIES} onChange={setDays} />
          <Problem message={creating.error?.message} />
          <Button
            type="submit"
            look="primary"
            disabled={name.trim() === '' || scopes.length === 0}
            isBusy={creating.isPending}
          >
            Create token
          </Button>
        </form>
      )}
    </Dialog>
  );
}

function RevokeTokenDialog({ subject, onClose }: { readonly subject: ApiToken; readonly onClose: () => void }) {
  return (
    <ActionDialog
      title={`Revoke ${subject.name}?`}
      onClose={onClose}
      action={useTokenChange(() => revokeApiToken(subject.id), onClose)}
      actionLabel="Revoke token"
      cancelLabel="Keep it"
      look="danger"
    >
      <p className="text-ink-soft">Programs that use it are refused at once. This cannot be undone.</p>
    </ActionDialog>
  );
}
