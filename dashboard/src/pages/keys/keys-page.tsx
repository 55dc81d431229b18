/** API keys: the gateway keys that clients send, what they cost, when they were last used. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Key, ListedKey } from '../../../../src/control/admin/key-bodies.ts';
import { keysQuery } from '../../api/keys.ts';
import { Allowed, useAllowed } from '../../app/session-context.tsx';
import { Count, Money } from '../../components/amounts.tsx';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { Checkbox } from '../../components/form-field.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { filterByValue } from '../../search/filter-text.ts';
import { ShareLinksSection } from '../share/share-links-section.tsx';
import { RevokeKeyDialog, RotateKeyDialog } from './change-key-dialogs.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { EditKeyDialog } from './edit-key-dialog.tsx';
import { hasUsableSuccessor, readKeyState } from './key-state.ts';
import { LimitBars } from './limit-fields.tsx';
import { LimitsSection } from './limits-section.tsx';
import { ReadTokensSection } from './read-tokens-section.tsx';

/** "Last used" moves while one looks. */
const REFETCH_MS = 5_000;

type Opened = { readonly what: 'create' } | { readonly what: 'edit' | 'revoke' | 'rotate'; readonly subject: Key };

function listColumns(
  all: readonly ListedKey[],
  open: (opened: Opened) => void,
  mayChange: boolean,
): readonly PlainColumn<ListedKey>[] {
  const columns: readonly PlainColumn<ListedKey>[] = [
    {
      header: 'Name',
      render: (key) => (
        <div className="min-w-36">
          <Link
            to="/logs"
            search={{ range: '30d', f: [filterByValue('key_id', String(key.id))] }}
            className="font-medium underline-offset-4 hover:underline"
          >
            {key.name}
          </Link>
          <code className="block font-mono text-xs whitespace-nowrap text-ink-soft">{`${key.prefix}…${key.last4}`}</code>
          {key.owner !== null && <span className="block text-xs text-ink-soft">of {key.owner}</span>}
        </div>
      ),
    },
    {
      header: 'State',
      render: (key) => {
        const { word, tone } = readKeyState(key, Date.now());
        return (
          <>
            <Badge tone={tone}>{word}</Badge>
            <RotationNote subject={key} />
          </>
        );
      },
    },
    { header: 'May use', render: (key) => <MayUse subject={key} /> },
    { header: 'Limits', render: (key) => <LimitBars limits={key} use={key.limit_use} /> },
    { header: 'Last used', render: (key) => <Timestamp at={key.last_used_at} form="relative" never="never" /> },
    {
      header: '24 hours',
      align: 'right',
      render: (key) => <Spent cost={key.cost_24h} calls={key.calls_24h} unpriced={key.unpriced_calls_24h} />,
    },
    {
      header: '30 days',
      align: 'right',
      render: (key) => <Spent cost={key.cost_30d} calls={key.calls_30d} unpriced={key.unpriced_calls_30d} />,
    },
    {
      header: 'Created',
      render: (key) => (
        <>
          <Timestamp at={key.created_at} form="relative" />
          {key.expires_at !== null && (
            <span className="block text-xs text-ink-soft">
              expires <Timestamp at={key.expires_at} form="relative" />
            </span>
          )}
        </>
      ),
    },
    {
      header: 'Actions',
      align: 'right',
      render: (key) =>
        key.revoked_at === null && (
          <span className="inline-flex flex-wrap justify-end gap-1 xl:flex-nowrap">
            <Button onClick={() => open({ what: 'edit', subject: key })} aria-label={`Edit ${key.name}`}>
              Edit
            </Button>
            {!hasUsableSuccessor(key, all, Date.now()) && (
              <Button onClick={() => open({ what: 'rotate', subject: key })} aria-label={`Rotate ${key.name}`}>
                Rotate
              </Button>
            )}
            <Button
              look="danger"
              onClick={() => open({ what: 'revoke', subject: key })}
              aria-label={`Revoke ${key.name}`}
            >
              Revoke
            </Button>
          </span>
        ),
    },
  ];
  return mayChange ? columns : columns.slice(0, -1);
}

function Spent({ cost, calls, unpriced }: SpentProps) {
  return (
    <>
      <Money value={cost} unpriced={unpriced ?? 0} />
      <span className="block text-xs text-ink-soft">
        <Count value={calls} unit="calls" /> calls
      </span>
    </>
  );
}

interface SpentProps {
  readonly cost: string | null;
  readonly calls: number | null;
  readonly unpriced: number | null;
}

/** Whether clients still use the old half of a rotation. */
function RotationNote({ subject }: { readonly subject: ListedKey }) {
  if (subject.replaced_at === null || subject.revoked_at !== null) return null;
  return (
    <span className="block text-xs text-ink-faint">
      rotated <Timestamp at={subject.replaced_at} form="relative" />;{' '}
      {subject.calls_since_rotation === 0 ? (
        'no calls with it since'
      ) : (
        <>
          <Count value={subject.calls_since_rotation} unit="calls" /> calls with it since
        </>
      )}
    </span>
  );
}

/** What its calls may use, and what is not as with other keys. */
function MayUse({ subject: key }: { readonly subject: Key }) {
  const limited = [
    key.allowed_providers?.join(', '),
    key.allowed_models?.join(', '),
    key.allowed_aliases && 'some aliases',
    key.allowed_endpoints && 'some endpoints',
    key.allowed_networks && 'from some networks',
  ].filter((part) => typeof part === 'string');
  const others = [
    key.bodies === 'off' && 'bodies are not kept',
    key.allow_in_address && 'may stand in addresses',
    key.runs_from.length > 0 && `runs from ${key.runs_from.join(', ')}`,
  ].filter((part) => typeof part === 'string');
  return (
    <div className="min-w-24">
      {limited.join('; ') || 'everything'}
      {others.length > 0 && <span className="block text-xs text-ink-soft">{others.join('; ')}</span>}
    </div>
  );
}

export function KeysPage() {
  const { data, error, refetch } = useQuery({ ...keysQuery, refetchInterval: REFETCH_MS });
  const [opened, setOpened] = useState<Opened | null>(null);
  const [areRevokedShown, setRevokedShown] = useState(false);
  const close = () => setOpened(null);
  const mayChange = useAllowed('member');
  const all = data?.data ?? [];
  const revoked = all.filter((key) => key.revoked_at !== null).length;
  const shown = areRevokedShown ? all : all.filter((key) => key.revoked_at === null);
  return (
    <>
      <PageHeader
        title="API keys"
        about="Clients send one as X-Gateway-Key. The gateway stores only a digest."
        actions={
          <>
            {revoked > 0 && (
              <Checkbox label={`Show ${revoked} revoked`} isOn={areRevokedShown} onChange={setRevokedShown} />
            )}
            <Allowed to="member">
              <Button look="primary" onClick={() => setOpened({ what: 'create' })}>
                <Plus size={15} aria-hidden /> Create key
              </Button>
            </Allowed>
          </>
        }
      />
      <div className="flex flex-col gap-8 px-4 pb-6">
        {(data === undefined || error !== null) && <Pending query={{ error, refetch }} what="the keys" rows={4} />}
        {data !== undefined && shown.length === 0 && (
          <EmptyState
            title="No keys yet"
            actions={
              <Allowed to="member">
                <Button look="primary" onClick={() => setOpened({ what: 'create' })}>
                  Create key
                </Button>
              </Allowed>
            }
          >
            A client needs a key before its calls are let through.
          </EmptyState>
        )}
        {shown.length > 0 && (
          <PlainTable
            label="Gateway keys"
            columns={listColumns(all, setOpened, mayChange)}
            rows={shown}
            rowKey={(key) => String(key.id)}
          />
        )}
        <LimitsSection />
      </div>
      <ReadTokensSection keys={all} />
      <ShareLinksSection />
      <CreateKeyDialog isOpen={opened?.what === 'create'} onClose={close} />
      {opened?.what === 'edit' && <EditKeyDialog subject={opened.subject} onClose={close} />}
      {opened?.what === 'revoke' && <RevokeKeyDialog subject={opened.subject} onClose={close} />}
      {opened?.what === 'rotate' && <RotateKeyDialog subject={opened.subject} onClose={close} />}
    </>
  );
}
