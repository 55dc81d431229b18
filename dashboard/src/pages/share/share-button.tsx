/** Makes a link to what the page shows, for somebody who does not sign in. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Share2 } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { NewShareLink } from '../../../../src/control/admin/share-links-resource.ts';
import { createShareLink, shareLinksQuery } from '../../api/share-links.ts';
import { Allowed, useSession } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type DaysToEnd, EXPIRIES_WITH_END, endAfter } from '../../components/expiries.ts';
import { Checkbox, SelectField, TextField } from '../../components/form-field.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Problem } from '../../components/states.tsx';

type WithoutForm<Link> = Link extends unknown ? Omit<Link, 'name' | 'bodies' | 'expires_at'> : never;
/** The run, or the view between two fixed times. */
export type SharedWhat = WithoutForm<NewShareLink>;

export function ShareButton({ what }: { readonly what: SharedWhat }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Allowed to="member">
      <Button onClick={() => setOpen(true)}>
        <Share2 size={15} aria-hidden /> Share
      </Button>
      {isOpen && <ShareDialog what={what} onClose={() => setOpen(false)} />}
    </Allowed>
  );
}

function ShareDialog({ what, onClose }: { readonly what: SharedWhat; readonly onClose: () => void }) {
  const { may_read_bodies: mayReadBodies } = useSession();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState<DaysToEnd>('7');
  const [hasBodies, setHasBodies] = useState(false);
  const creating = useMutation({
    mutationFn: createShareLink,
    onSuccess: () => queries.invalidateQueries({ queryKey: shareLinksQuery.queryKey }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate({ ...what, name, bodies: hasBodies, expires_at: endAfter(days) });
  };
  return (
    <Dialog
      title={what.page === 'run' ? 'Share this run' : 'Share this view'}
      isOpen
      onClose={onClose}
      isBusy={creating.isPending}
    >
      {creating.data !== undefined ? (
        <ShownOnce
          secret={creating.data.url}
          about="Whoever has this link sees the page without signing in. It is shown only now; under Keys it can be revoked."
          what="the link"
          onDone={onClose}
        />
      ) : (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <TextField label="What it is for" value={name} maxLength={200} placeholder="for Ben" onChange={setName} />
          <SelectField label="Expires" value={days} choices={EXPIRIES_WITH_END} onChange={setDays} />
          {mayReadBodies && what.page !== 'costs' && (
            <Checkbox label="It shows prompts and answers" isOn={hasBodies} onChange={setHasBodies} />
          )}
          {what.page !== 'run' && (
            <p className="text-ink-soft">It shows what lies between the times of the page, and nothing of later.</p>
          )}
          <Problem message={creating.error?.message} />
          <Button type="submit" look="primary" disabled={name.trim() === '' || creating.isPending}>
            {creating.isPending ? 'Making…' : 'Make the link'}
          </Button>
        </form>
      )}
    </Dialog>
  );
}
