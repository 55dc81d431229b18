/** Budgets: what may be spent, what is spent and reserved of it, and by whom. */
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { type Budget, budgetsQuery } from '../../api/budgets.ts';
import { Allowed } from '../../app/session-context.tsx';
import { Money } from '../../components/amounts.tsx';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/buttons.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import { BudgetBar } from './budget-bar.tsx';
import { CreateBudgetDialog, DeleteBudgetDialog, EditBudgetDialog } from './budget-dialogs.tsx';
import { describePeriod, describeScope } from './budget-words.ts';

/** What is reserved moves with every call. */
const REFETCH_MS = 3_000;

type Opened = { readonly what: 'create' } | { readonly what: 'edit' | 'delete'; readonly budget: Budget };

function BudgetCard({ budget, open }: { readonly budget: Budget; readonly open: (opened: Opened) => void }) {
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-sm font-semibold">{budget.name}</h2>
        <span className="text-sm text-ink-soft">
          {describeScope(budget)}: <Money value={budget.amount_usd} /> {describePeriod(budget)}
        </span>
        <Badge tone={budget.hard ? 'accent' : 'neutral'}>{budget.hard ? 'refuses' : 'marks only'}</Badge>
        <span className="text-xs text-ink-faint">
          {budget.resets_at === null ? (
            'does not reset'
          ) : (
            <>
              resets <Timestamp at={budget.resets_at} form="relative" />
            </>
          )}
          {budget.contact !== null && `; ask ${budget.contact} for more`}
        </span>
        <Allowed to="member">
          <span className="ml-auto flex gap-2">
            <Button onClick={() => open({ what: 'edit', budget })}>Change</Button>
            <Button onClick={() => open({ what: 'delete', budget })}>Delete</Button>
          </span>
        </Allowed>
      </div>
      {budget.uses.length === 0 ? (
        <p className="text-xs text-ink-faint">Nothing is spent of it in this period.</p>
      ) : (
        <div className="flex flex-col gap-2">
          {budget.uses.map((use) => (
            <BudgetBar key={use.value} use={use} name={use.value === '' ? 'the account' : use.value} />
          ))}
        </div>
      )}
    </li>
  );
}

export function BudgetsPage() {
  const { data, error, refetch } = useQuery({ ...budgetsQuery, refetchInterval: REFETCH_MS });
  const [opened, setOpened] = useState<Opened | null>(null);
  const close = () => setOpened(null);
  const create = (
    <Allowed to="member">
      <Button look="primary" onClick={() => setOpened({ what: 'create' })}>
        <Plus size={14} aria-hidden /> Make a budget
      </Button>
    </Allowed>
  );
  return (
    <>
      <PageHeader
        title="Budgets"
        about="What may be spent. A call's greatest possible cost is reserved before it is sent, and settled when it has ended."
        actions={create}
      />
      {data === undefined ? (
        <Pending query={{ error, refetch }} what="the budgets" />
      ) : data.data.length === 0 ? (
        <EmptyState title="No budgets yet" actions={create}>
          A budget stops a run, a key or a person before money runs away: calls that might go beyond it are not sent.
        </EmptyState>
      ) : (
        <ul aria-label="Budgets" className="flex flex-col gap-3 px-4 pb-6">
          {data.data.map((budget) => (
            <BudgetCard key={budget.id} budget={budget} open={setOpened} />
          ))}
        </ul>
      )}
      {opened?.what === 'create' && <CreateBudgetDialog onClose={close} />}
      {opened?.what === 'edit' && <EditBudgetDialog budget={opened.budget} onClose={close} />}
      {opened?.what === 'delete' && <DeleteBudgetDialog budget={opened.budget} onClose={close} />}
    </>
  );
}
