/** Brakes and alerts: what is paused, what was hit, the rules, and who is told. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Pause } from 'lucide-react';
import { useState } from 'react';
import { Allowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { TabList } from '../../components/tab-list.tsx';
import { AlertsTab } from './alerts-tab.tsx';
import { HitsTab } from './hits-tab.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { RulesTab } from './rules-tab.tsx';

export function BrakesPage() {
  const { tab = 'hits' } = useSearch({ from: '/app/brakes' });
  const navigate = useNavigate({ from: '/brakes' });
  const [isPausing, setPausing] = useState(false);
  return (
    <>
      <PageHeader
        title="Brakes & alerts"
        about="Rules that see when a run or key runs away, and who is told of what."
        actions={
          <Allowed to="member">
            <Button onClick={() => setPausing(true)}>
              <Pause size={14} aria-hidden /> Pause a run or key
            </Button>
          </Allowed>
        }
      />
      <TabList
        label="Brakes and alerts"
        current={tab}
        onChange={(id) => void navigate({ search: { tab: id }, replace: true })}
        tabs={[
          { id: 'hits', label: 'Hits', content: <HitsTab /> },
          { id: 'rules', label: 'Rules', content: <RulesTab /> },
          { id: 'alerts', label: 'Alerts', content: <AlertsTab /> },
        ]}
      />
      {isPausing && <PauseDialog onClose={() => setPausing(false)} />}
    </>
  );
}
