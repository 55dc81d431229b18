/** The share links of the account: what each shows, until when, and its end. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ShareLink } from '../../../../src/control/admin/share-links-resource.ts';
import { revokeShareLink, shareLinksQuery } from '../../api/share-links.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { RevokeDialog } from '../../components/revoke-dialog.tsx';
import { Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';

const PAGE_WORDS = {
  run: 'one run',
  logs: 'a view of Logs',
  runs: 'a view of Runs',
  costs: 'a view of Costs',
} as const;

function listColumns(revoke: (subject: ShareLink) => void): readonly PlainColumn<ShareLink>[] {
  return [
    { header: 'Name', render: ({ name }) => <span className="font-medium">{name}</span> },
    { header: 'Shows', render: ({ page }) => PAGE_WORDS[page] },
    { header: 'Prompts and answers', render: ({ bodies }) => (bodies ? 'shown' : 'left out') },
    { header: 'Made by', render: ({ created_by: by }) => by },
    { header: 'Last opened', render: (link) => <Timestamp at={link.last_used_at} form="relative" never="never" /> },
    { header: 'Expires', render: (link) => <Timestamp at={link.expires_at} /> },
    {
      header: 'Actions',
      align: 'right',
      render: (link) => (
        <Allowed to="member">
          <Button look="danger" onClick={() => revoke(link)} aria-label={`Revoke ${link.name}`}>
            Revoke
          </Button>
        </Allowed>
      ),
    },
  ];
}

export function ShareLinksSection() {
  const { data, error, refetch } = useQuery(shareLinksQuery);
  const [revoked, setRevoked] = useState<ShareLink | null>(null);
  const now = Date.now();
  const valid = data?.data.filter((link) => link.revoked_at === null && Date.parse(link.expires_at) > now) ?? [];
  return (
    <section aria-label="Share links" className="px-4 pb-6">
      <div className="py-3">
        <h2 className="text-sm font-semibold">Share links</h2>
        <p className="text-xs text-ink-soft">
          Each shows one run or one view without a sign-in, and nothing else. “Share” on a run, in Logs, Runs or Costs
          makes one.
        </p>
      </div>
      {(data === undefined || error !== null) && <Pending query={{ error, refetch }} what="the share links" rows={1} />}
      {data !== undefined && valid.length === 0 && <p className="text-sm text-ink-soft">Nothing is shared.</p>}
      {valid.length > 0 && (
        <PlainTable
          label="List of share links"
          columns={listColumns(setRevoked)}
          rows={valid}
          rowKey={({ id }) => String(id)}
        />
      )}
      {revoked !== null && <RevokeShareLinkDialog subject={revoked} onClose={() => setRevoked(null)} />}
    </section>
  );
}

function RevokeShareLinkDialog({ subject, onClose }: { readonly subject: ShareLink; readonly onClose: () => void }) {
  return (
    <RevokeDialog
      name={subject.name}
      what="share link"
      revoke={() => revokeShareLink(subject.id)}
      queryKey={shareLinksQuery.queryKey}
      onClose={onClose}
    >
      <p className="text-ink-soft">Whoever has it open sees nothing more. This cannot be undone.</p>
    </RevokeDialog>
  );
}
