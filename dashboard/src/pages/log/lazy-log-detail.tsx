/** The detail of a call for pages that show it beside something else: its code is loaded when the first call is opened. */
import { type ComponentProps, lazy, Suspense } from 'react';
import { Skeleton } from '../../components/states.tsx';

const LogDetail = lazy(async () => ({ default: (await import('./log-detail.tsx')).LogDetail }));

export function LazyLogDetail(props: ComponentProps<typeof LogDetail>) {
  return (
    <Suspense fallback={<Skeleton label="Loading the call" />}>
      <LogDetail {...props} />
    </Suspense>
  );
}
