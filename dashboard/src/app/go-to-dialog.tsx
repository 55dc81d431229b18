/** One line that leads anywhere: a page by its name, a call by its id, a run by its trace id. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useRef, useState } from 'react';
import { isUuid } from '../../../src/vocabulary/uuid.ts';
import { ApiError } from '../api/client.ts';
import { logQuery } from '../api/logs.ts';
import { Dialog } from '../components/dialog.tsx';
import { navigationOf } from './navigation.ts';
import { useSession } from './session-context.tsx';

/** An id of a call, and perhaps a trace id: many clients number their runs like this. */
function useOpenById(): (id: string) => Promise<void> {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return async (id) => {
    try {
      await queries.fetchQuery(logQuery(id));
    } catch (error) {
      // Other errors are told by the page of the call, which asks again.
      if (error instanceof ApiError && error.status === 404) {
        await navigate({ to: '/run', search: { trace: id } });
        return;
      }
    }
    await navigate({ to: '/log/$id', params: { id } });
  };
}

export function GoToDialog({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const openById = useOpenById();
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  const wanted = text.trim();
  const navigation = navigationOf(useSession());
  const pages = navigation
    .flatMap(({ items }) => items)
    .filter(({ label }) => label.toLowerCase().includes(wanted.toLowerCase()));
  const leave = () => {
    setText('');
    onClose();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const [page] = pages;
    if (isUuid(wanted)) void openById(wanted);
    else if (page !== undefined) void navigate({ to: page.to });
    else if (wanted !== '') void navigate({ to: '/run', search: { trace: wanted } });
    leave();
  };
  return (
    <Dialog title="Go to" isOpen={isOpen} onClose={leave} initialFocus={input} isTypedKept={false}>
      <form onSubmit={submit}>
        <input
          ref={input}
          aria-label="Page, request id or trace id"
          placeholder="A page, a request id, a trace id"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="h-9 w-full rounded-md border border-line-strong bg-surface px-3"
        />
        <ul className="mt-2">
          {pages.map(({ to, label, icon: Icon }) => (
            <li key={to}>
              <button
                type="button"
                className="flex w-full items-center gap-2 rounded px-2 py-1.5 text-left hover:bg-raised"
                onClick={() => {
                  void navigate({ to });
                  leave();
                }}
              >
                <Icon size={16} aria-hidden /> {label}
              </button>
            </li>
          ))}
        </ul>
        {pages.length === 0 && wanted !== '' && (
          <p className="px-2 py-1.5 text-ink-soft">
            Enter opens the {isUuid(wanted) ? 'call or run' : 'run'}{' '}
            <span className="font-mono break-all">{wanted}</span>
          </p>
        )}
      </form>
    </Dialog>
  );
}
