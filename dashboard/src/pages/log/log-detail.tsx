/**
 * One call, whole: used on its page, in the panel beside the Logs, and in the run. It fetches what it shows; which tab
 * is open is the caller's when it keeps that in the address, otherwise its own.
 */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { logQuery } from '../../api/logs.ts';
import { useSession } from '../../app/session-context.tsx';
import { Pending, Skeleton } from '../../components/states.tsx';
import { type TabItem, TabList } from '../../components/tab-list.tsx';
import { BodyTab } from './body-tab.tsx';
import { LogHead } from './log-head.tsx';
import { MessagesTab } from './messages-tab.tsx';
import { MetadataTab } from './metadata-tab.tsx';
import { SoughtText } from './sought-text.tsx';
import { TimingTab } from './timing-tab.tsx';

interface LogDetailProps {
  readonly id: string;
  readonly tab?: string | undefined;
  readonly onTab?: (tab: string) => void;
  /** On its own page it does not offer to open it. */
  readonly isPage?: boolean;
  /** Shows the call before or after it in the run in place; without it that is a page. */
  readonly onShow?: (id: string) => void;
  /** What a search looked for: it is marked, and the first place scrolled to. */
  readonly sought?: string | undefined;
}

/** Most calls never need its code. */
const CostTab = lazy(async () => ({ default: (await import('./cost-tab.tsx')).CostTab }));

const FIRST_TAB = 'messages';

export function LogDetail({ id, tab, onTab, isPage = false, onShow, sought = '' }: LogDetailProps) {
  const { data: log, error, refetch } = useQuery(logQuery(id));
  const { may_read_bodies: mayReadTexts } = useSession();
  const [ownTab, setOwnTab] = useState(FIRST_TAB);
  if (log === undefined) return <Pending query={{ error, refetch }} what="the call" />;
  const textTabs: readonly TabItem[] = [
    { id: FIRST_TAB, label: 'Messages', content: <MessagesTab key={id} log={log} /> },
    { id: 'request', label: 'Request', content: <BodyTab key={id} log={log} direction="request" /> },
    { id: 'response', label: 'Response', content: <BodyTab key={id} log={log} direction="response" /> },
  ];
  const costTab = (
    <Suspense fallback={<Skeleton label="Loading the cost" />}>
      <CostTab log={log} />
    </Suspense>
  );
  const tabs: readonly TabItem[] = [
    ...(mayReadTexts ? textTabs : []),
    { id: 'cost', label: 'Cost', content: costTab },
    { id: 'timing', label: 'Timing', content: <TimingTab log={log} /> },
    { id: 'metadata', label: 'Metadata', content: <MetadataTab log={log} /> },
  ];
  const wanted = onTab === undefined ? ownTab : (tab ?? FIRST_TAB);
  const current = tabs.some((one) => one.id === wanted) ? wanted : mayReadTexts ? FIRST_TAB : 'cost';
  return (
    <article aria-label="Call" className="flex min-h-full flex-col bg-panel">
      {/* In a panel the panel's own heading stands above the parts. */}
      {isPage && <h2 className="sr-only">Record of the call</h2>}
      <SoughtText key={id} text={sought}>
        <LogHead log={log} isPage={isPage} onShow={onShow} sought={sought} />
        <TabList label="Parts of the call" tabs={tabs} current={current} onChange={onTab ?? setOwnTab} />
      </SoughtText>
    </article>
  );
}
