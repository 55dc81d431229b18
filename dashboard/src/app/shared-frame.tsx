/** What stands around the one page that a share link shows: whose it is, until when, and the way out. */
import { useQueryClient } from '@tanstack/react-query';
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { signOut } from '../api/session.ts';
import { Button } from '../components/buttons.tsx';
import { Skeleton } from '../components/states.tsx';
import { Timestamp } from '../components/timestamp.tsx';
import { useSession } from './session-context.tsx';
import { findSharedAddress, type SharedView } from './shared-view.ts';

export function SharedFrame({ view }: { readonly view: SharedView }) {
  const { name } = useSession();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { pathname, search } = useLocation();
  const address = findSharedAddress(view, pathname, search);
  useEffect(() => {
    if (address !== null) void navigate({ href: address, replace: true });
  }, [address, navigate]);
  const leave = async () => {
    await signOut();
    queries.clear();
    await navigate({ to: '/login' });
  };
  return (
    <div className="flex h-dvh flex-col">
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-panel px-4 py-2">
        <img src="/favicon.svg" alt="" width={20} height={20} />
        <p className="min-w-0 flex-1 text-ink-soft">
          Shared with you: <span className="font-medium text-ink">{name}</span>, to read, until{' '}
          <Timestamp at={view.expires_at} />
        </p>
        <Button look="quiet" onClick={() => void leave()}>
          Leave
        </Button>
      </header>
      <main id="main" className="flex min-h-0 flex-1 flex-col overflow-auto">
        {address === null ? <Outlet /> : <Skeleton />}
      </main>
    </div>
  );
}
