/** The cost tab: its code is loaded when it is first opened, which most calls never need. */
import { type ComponentProps, lazy, Suspense } from 'react';
import { Skeleton } from '../../components/states.tsx';

const CostTab = lazy(async () => ({ default: (await import('./cost-tab.tsx')).CostTab }));

export function LazyCostTab(props: ComponentProps<typeof CostTab>) {
  return (
    <Suspense fallback={<Skeleton label="Loading the cost" />}>
      <CostTab {...props} />
    </Suspense>
  );
}
