/** Who may sign in to this account, as what; and the tokens with which programs ask. */
import { useQuery } from '@tanstack/react-query';
import { UserPlus } from 'lucide-react';
import { useState } from 'react';
import { type Person, peopleQuery } from '../../api/people.ts';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { ApiTokens } from './api-tokens.tsx';
import { EditPersonDialog, InviteDialog, LinkDialog, RemovePersonDialog, SignOutDialog } from './person-dialogs.tsx';
import { RetentionSection } from './retention-section.tsx';
import { ROLE_LABELS } from './role-words.ts';

type Opened =
  | { readonly what: 'invite' }
  | { readonly what: 'edit' | 'link' | 'sign-out' | 'remove'; readonly subject: Person };

function listColumns(open: (opened: Opened) => void): readonly PlainColumn<Person>[] {
  return [
    { header: 'Name', render: (person) => <span className="font-medium">{person.name}</span> },
    { header: 'Address', render: (person) => person.email },
    { header: 'Role', render: (person) => <Badge tone="neutral">{ROLE_LABELS[person.role]}</Badge> },
    { header: 'Texts', render: (person) => (person.may_read_bodies ? 'may read' : 'may not read') },
    { header: 'By', render: (person) => (person.source === 'groups' ? 'groups' : 'invitation') },
    { header: 'Signed in', render: (person) => <Timestamp at={person.signed_in_at} form="relative" never="never" /> },
    {
      header: 'Actions',
      align: 'right',
      render: (person) => (
        <span className="inline-flex flex-wrap gap-1">
          <Button aria-label={`Edit ${person.email}`} onClick={() => open({ what: 'edit', subject: person })}>
            Edit
          </Button>
          <Button aria-label={`New link for ${person.email}`} onClick={() => open({ what: 'link', subject: person })}>
            New link
          </Button>
          <Button aria-label={`Sign out ${person.email}`} onClick={() => open({ what: 'sign-out', subject: person })}>
            Sign out
          </Button>
          <Button
            look="danger"
            aria-label={`Remove ${person.email}`}
            onClick={() => open({ what: 'remove', subject: person })}
          >
            Remove
          </Button>
        </span>
      ),
    },
  ];
}

export function PeoplePage() {
  const { data, error, refetch } = useQuery(peopleQuery);
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const invite = (
    <Button look="primary" onClick={() => setOpened({ what: 'invite' })}>
      <UserPlus size={15} aria-hidden /> Invite a person
    </Button>
  );
  return (
    <>
      <PageHeader title="People" about="Who may sign in to this account, and what they may do." actions={invite} />
      <div className="flex flex-col gap-8 px-4 pb-6">
        {(data === undefined || error !== null) && <Pending query={{ error, refetch }} what="the people" rows={4} />}
        {data?.data.length === 0 && (
          <EmptyState title="Nobody is invited yet" actions={invite}>
            The operator of the gateway gets in with the admin token and is not in this list.
          </EmptyState>
        )}
        {data !== undefined && data.data.length > 0 && (
          <PlainTable
            label="People"
            columns={listColumns(setOpened)}
            rows={data.data}
            rowKey={(person) => String(person.id)}
          />
        )}
        <ApiTokens />
        <RetentionSection />
      </div>
      {opened?.what === 'invite' && <InviteDialog onClose={close} />}
      {opened?.what === 'edit' && <EditPersonDialog subject={opened.subject} onClose={close} />}
      {opened?.what === 'link' && <LinkDialog subject={opened.subject} onClose={close} />}
      {opened?.what === 'sign-out' && <SignOutDialog subject={opened.subject} onClose={close} />}
      {opened?.what === 'remove' && <RemovePersonDialog subject={opened.subject} onClose={close} />}
    </>
  );
}
