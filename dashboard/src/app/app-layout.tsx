/** What stands around every page but the sign-in: side bar, top bar, jobs under way, the dialogs of the keyboard. */

import { useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { isJobActive, jobsQuery } from '../api/jobs.ts';
import { JobProgress } from '../components/job-progress.tsx';
import { GoToDialog } from './go-to-dialog.tsx';
import { HelpDialog } from './help-dialog.tsx';
import { PageForRole } from './page-for-role.tsx';
import { SessionProvider, useSession } from './session-context.tsx';
import { SharedFrame } from './shared-frame.tsx';
import { SideBar } from './side-bar.tsx';
import { TopBar } from './top-bar.tsx';
import { useAppKeys } from './use-app-keys.ts';

/** Who is signed in decides what is shown. */
export function AppLayout() {
  return (
    <SessionProvider>
      <Frame />
    </SessionProvider>
  );
}

function Frame() {
  const { shared } = useSession();
  return shared === null ? <WholeFrame /> : <SharedFrame view={shared} />;
}

function WholeFrame() {
  const [open, setOpen] = useState<'go-to' | 'help' | null>(null);
  const openGoTo = useCallback(() => setOpen('go-to'), []);
  const openHelp = useCallback(() => setOpen('help'), []);
  const close = useCallback(() => setOpen(null), []);
  useAppKeys(openGoTo, openHelp);
  return (
    <div className="flex h-dvh flex-col md:flex-row">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
        Skip to the page
      </a>
      <SideBar />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <TopBar onGoTo={openGoTo} onHelp={openHelp} />
        <JobStrip />
        <main id="main" className="flex min-h-0 flex-1 flex-col overflow-auto">
          <PageForRole />
        </main>
      </div>
      <GoToDialog isOpen={open === 'go-to'} onClose={close} />
      <HelpDialog isOpen={open === 'help'} onClose={close} />
    </div>
  );
}

function JobStrip() {
  const { data } = useQuery(jobsQuery);
  const active = (data?.data ?? []).filter(({ state }) => isJobActive(state));
  if (active.length === 0) return null;
  return (
    <section aria-label="Jobs in progress" className="border-b border-line bg-panel px-4 py-1">
      {active.map((job) => (
        <JobProgress key={job.id} job={job} />
      ))}
    </section>
  );
}
