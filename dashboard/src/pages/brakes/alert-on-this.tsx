/** The button of Logs, Runs and Costs that makes an alert of what is filtered there. Nothing for those who may not. */
import { Bell } from 'lucide-react';
import { useState } from 'react';
import type { Question } from '../../api/alerts.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { CreateAlertDialog } from './create-alert-dialog.tsx';

interface AlertOnThisProps {
  readonly about: Question['about'];
  readonly filters: readonly string[];
  readonly measure?: Question['measure'];
  /** Text that is searched for: reading all texts again and again would be too much. */
  readonly q?: string | undefined;
}

export function AlertOnThis({ about, filters, measure = 'cost', q }: AlertOnThisProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Allowed to="member">
      <Button onClick={() => setOpen(true)}>
        <Bell size={15} aria-hidden /> Alert me<span className="sr-only"> on this</span>
      </Button>
      {isOpen && (
        <CreateAlertDialog
          asked={{ about, filters, measure }}
          note={q === undefined ? undefined : `It looks at all that match the filters, not only at those with “${q}”.`}
          onClose={() => setOpen(false)}
        />
      )}
    </Allowed>
  );
}
