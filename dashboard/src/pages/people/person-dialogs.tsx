/** Inviting a person, and what can be done with one. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ROLE_WORDS } from '../../../../src/control/admin/access-words.ts';
import {
  createPersonLink,
  editPerson,
  invitePerson,
  type Person,
  type PersonRights,
  peopleQuery,
  removePerson,
  signOutPerson,
} from '../../api/people.ts';
import { Button } from '../../components/buttons.tsx';
import { ActionDialog, Dialog } from '../../components/dialog.tsx';
import { Checkbox, SelectField, TextField } from '../../components/form-field.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Problem } from '../../components/states.tsx';
import { ROLE_CHOICES } from './role-words.ts';

const LINK_ABOUT =
  'This link signs one browser in, once, within three days. Send it to the person; it is shown only now.';

function useChange<T>(change: () => Promise<T>, onDone?: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: peopleQuery.queryKey });
      onDone?.();
    },
  });
}

function RightsFields({
  rights,
  onChange,
}: {
  readonly rights: PersonRights;
  readonly onChange: (rights: PersonRights) => void;
}) {
  return (
    <>
      <SelectField
        label="Role"
        value={rights.role}
        choices={ROLE_CHOICES}
        hint={`May ${ROLE_WORDS[rights.role]}.`}
        onChange={(role) => onChange({ ...rights, role })}
      />
      <Checkbox
        label="May read the text of prompts and answers"
        isOn={rights.may_read_bodies}
        onChange={(mayRead) => onChange({ ...rights, may_read_bodies: mayRead })}
      />
    </>
  );
}

export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [rights, setRights] = useState<PersonRights>({ role: 'member', may_read_bodies: true });
  const inviting = useChange(() => invitePerson({ email: email.trim(), ...rights }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    inviting.mutate();
  };
  const link = inviting.data?.link ?? null;
  return (
    <Dialog title="Invite a person" isOpen onClose={onClose} isBusy={inviting.isPending}>
      {link !== null && <ShownOnce secret={link.url} about={LINK_ABOUT} what="the link" onDone={onClose} />}
      {inviting.data !== undefined && link === null && (
        <p role="status">{inviting.data.person.email} is in the account now, and signs in as before.</p>
      )}
      {inviting.data === undefined && (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <TextField label="E-mail address" value={email} maxLength={254} onChange={setEmail} />
          <RightsFields rights={rights} onChange={setRights} />
          <Problem message={inviting.error?.message} />
          <Button type="submit" look="primary" disabled={email.trim() === ''} isBusy={inviting.isPending}>
            Make the invitation
          </Button>
        </form>
      )}
    </Dialog>
  );
}

interface PersonDialogProps {
  readonly subject: Person;
  readonly onClose: () => void;
}

export function EditPersonDialog({ subject, onClose }: PersonDialogProps) {
  const [rights, setRights] = useState<PersonRights>({ role: subject.role, may_read_bodies: subject.may_read_bodies });
  return (
    <ActionDialog
      title={`What ${subject.email} may do`}
      onClose={onClose}
      action={useChange(() => editPerson(subject.id, rights), onClose)}
      actionLabel="Save"
      cancelLabel="Cancel"
      look="primary"
    >
      <RightsFields rights={rights} onChange={setRights} />
      {subject.source === 'groups' && (
        <p className="text-ink-soft">
          The groups of the identity provider say this again at the next sign-in, so change it there.
        </p>
      )}
    </ActionDialog>
  );
}

export function LinkDialog({ subject, onClose }: PersonDialogProps) {
  const making = useChange(() => createPersonLink(subject.id));
  if (making.data !== undefined)
    return (
      <Dialog title={`A link for ${subject.email}`} isOpen onClose={onClose}>
        <ShownOnce secret={making.data.url} about={LINK_ABOUT} what="the link" onDone={onClose} />
      </Dialog>
    );
  return (
    <ActionDialog
      title={`A new link for ${subject.email}?`}
      onClose={onClose}
      action={making}
      actionLabel="Make the link"
      cancelLabel="Cancel"
      look="primary"
    >
      <p className="text-ink-soft">
        It signs the person in once. A password that they had ends when the link is used; they can then set another.
      </p>
    </ActionDialog>
  );
}

export function SignOutDialog({ subject, onClose }: PersonDialogProps) {
  return (
    <ActionDialog
      title={`Sign out ${subject.email} everywhere?`}
      onClose={onClose}
      action={useChange(() => signOutPerson(subject.id), onClose)}
      actionLabel="Sign out"
      cancelLabel="Cancel"
      look="danger"
    >
      <p className="text-ink-soft">All sessions and open links of the person end within a second.</p>
    </ActionDialog>
  );
}

export function RemovePersonDialog({ subject, onClose }: PersonDialogProps) {
  return (
    <ActionDialog
      title={`Remove ${subject.email}?`}
      onClose={onClose}
      action={useChange(() => removePerson(subject.id), onClose)}
      actionLabel="Remove"
      cancelLabel="Cancel"
      look="danger"
    >
      <p className="text-ink-soft">
        The person can no longer open this account. Keys and API tokens that they made stay as they are.
      </p>
    </ActionDialog>
  );
}
