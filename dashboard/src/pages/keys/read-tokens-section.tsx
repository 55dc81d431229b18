/** Read tokens: what lets an agent ask the log over MCP, and nothing else. */

import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ListedKey } from '../../../../src/control/admin/key-bodies.ts';
import type { ReadToken } from '../../../../src/control/admin/read-tokens-resource.ts';
import { readTokensQuery, revokeReadToken } from '../../api/read-tokens.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { RevokeDialog } from '../../components/revoke-dialog.tsx';
import { Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { CreateReadTokenDialog } from './create-read-token-dialog.tsx';
import { readKeyState } from './key-state.ts';

type Opened = { readonly what: 'create' } | { readonly what: 'revoke'; readonly subject: ReadToken };

function listColumns(
  keys: readonly ListedKey[],
  revoke: (subject: ReadToken) => void,
): readonly PlainColumn<ReadToken>[] {
  const nameOf = (id: number) => keys.find((key) => key.id === id)?.name ?? `key ${id}`;
  return [
    { header: 'Name', render: ({ name }) => <span className="font-medium">{name}</span> },
    { header: 'Token', render: ({ last4 }) => <code className="font-mono text-xs">{`tgm_…${last4}`}</code> },
    {
      header: 'State',
      render: (token) => {
        const { word, tone } = readKeyState(token, Date.now());
        return <Badge tone={tone}>{word}</Badge>;
      },
    },
    { header: 'Reads', render: ({ key_id }) => (key_id === null ? 'all calls' : `calls of ${nameOf(key_id)}`) },
    { header: 'Prompts and answers', render: ({ texts }) => (texts ? 'readable' : 'left out') },
    { header: 'Last used', render: (token) => <Timestamp at={token.last_used_at} form="relative" never="never" /> },
    { header: 'Created', render: (token) => <Timestamp at={token.created_at} /> },
    { header: 'Expires', render: (token) => <Timestamp at={token.expires_at} never="never" /> },
    {
      header: 'Actions',
      align: 'right',
      render: (token) =>
        token.revoked_at === null && (
          <Allowed to="member">
            <Button look="danger" onClick={() => revoke(token)} aria-label={`Revoke ${token.name}`}>
              Revoke
            </Button>
          </Allowed>
        ),
    },
  ];
}

export function ReadTokensSection({ keys }: { readonly keys: readonly ListedKey[] }) {
  const { data, error, refetch } = useQuery(readTokensQuery);
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const valid = data?.data.filter((token) => token.revoked_at === null) ?? [];
  return (
    <section aria-label="Read tokens" className="px-4 pb-6">
      <div className="flex flex-wrap items-center justify-between gap-2 py-3">
        <div>
          <h2 className="text-sm font-semibold">Read tokens</h2>
          <p className="text-xs text-ink-soft">
            With one, an agent asks what its session cost, and why, at <code>/mcp</code> on this port. It opens nothing
            else.
          </p>
        </div>
        <Allowed to="member">
          <Button onClick={() => setOpened({ what: 'create' })}>
            <Plus size={15} aria-hidden /> Create read token
          </Button>
        </Allowed>
      </div>
      {(data === undefined || error !== null) && <Pending query={{ error, refetch }} what="the read tokens" rows={1} />}
      {data !== undefined && valid.length === 0 && <p className="text-sm text-ink-soft">No agent has one.</p>}
      {valid.length > 0 && (
        <PlainTable
          label="List of read tokens"
          columns={listColumns(keys, (subject) => setOpened({ what: 'revoke', subject }))}
          rows={valid}
          rowKey={({ id }) => String(id)}
        />
      )}
      <CreateReadTokenDialog keys={keys} isOpen={opened?.what === 'create'} onClose={close} />
      {opened?.what === 'revoke' && <RevokeReadTokenDialog subject={opened.subject} onClose={close} />}
    </section>
  );
}

function RevokeReadTokenDialog({ subject, onClose }: { readonly subject: ReadToken; readonly onClose: () => void }) {
  return (
    <RevokeDialog
      name={subject.name}
      what="read token"
      revoke={() => revokeReadToken(subject.id)}
      queryKey={readTokensQuery.queryKey}
      onClose={onClose}
    >
      <p className="text-ink-soft">Every node refuses it from the next question on. This cannot be undone.</p>
    </RevokeDialog>
  );
}
