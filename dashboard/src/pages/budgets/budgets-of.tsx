/** What one run or key has used of its budgets; nothing where it has none. */
import { useQuery } from '@tanstack/react-query';
import { budgetsOfQuery } from '../../api/budgets.ts';
import { BudgetBar } from './budget-bar.tsx';

const REFETCH_MS = 5_000;

export function BudgetsOf({ scope, value }: { readonly scope: 'run' | 'key'; readonly value: string }) {
  const { data } = useQuery({ ...budgetsOfQuery(scope, value), refetchInterval: REFETCH_MS });
  const used = (data?.data ?? []).flatMap(({ id, name, amount_usd, uses }) =>
    uses.map((use) => ({ id, use, name: `${name}: $${amount_usd}` })),
  );
  if (used.length === 0) return null;
  return (
    <section aria-label="Budgets" className="flex flex-col gap-2">
      {used.map(({ id, name, use }) => (
        <BudgetBar key={id} name={name} use={use} />
      ))}
    </section>
  );
}
