/** The page at the address, or who it is for. Such a page stands in no menu of others, but its address can be passed on. */
import { Outlet, useLocation } from '@tanstack/react-router';
import { allows } from '../api/session.ts';
import { PageHeader } from '../components/page-header.tsx';
import { EmptyState } from '../components/states.tsx';
import { findRestrictedPage } from './navigation.ts';
import { useSession } from './session-context.tsx';

export function PageForRole() {
  const session = useSession();
  const page = findRestrictedPage(useLocation({ select: ({ pathname }) => pathname }));
  if (page === null || allows(session, page.least)) return <Outlet />;
  const isOfOperator = page.least === 'operator';
  return (
    <>
      <PageHeader title={page.label} />
      {isOfOperator ? (
        <EmptyState title="For whoever runs the gateway">
          Sign in with the admin token, or a link of <code>tollgate login</code>, to open it.
        </EmptyState>
      ) : (
        <EmptyState title={`For ${page.least}s of this account`}>
          Your role in it is {session.role}. An owner can change that under People.
        </EmptyState>
      )}
    </>
  );
}
