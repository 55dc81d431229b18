/** After a price was added for calls without one: the button that prices exactly these again, and how far that is. */

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { startReprice } from '../../api/reprice.ts';
import { Button, buttonClass } from '../../components/buttons.tsx';
import { focusOnMount } from '../../components/focus-on-mount.ts';
import { JobProgress } from '../../components/job-progress.tsx';
import { useJob } from '../../components/use-job.ts';
import { REPRICED } from './reprice-filters.ts';
import { readRepriceOutcome } from './reprice-outcome.ts';

interface RepriceOfferProps {
  readonly calls: number;
  readonly from: string;
  readonly filters: readonly string[];
  readonly reason: string;
}

export function RepriceOffer({ calls, from, filters, reason }: RepriceOfferProps) {
  const queries = useQueryClient();
  const starting = useMutation({
    mutationFn: () => startReprice({ from, to: null, f: filters, only: 'unpriced', reason, dry_run: false }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['jobs'] }),
  });
  const job = useJob({ id: starting.data?.job_id ?? null, changes: REPRICED, isUnderWay: true });
  const what = calls === 1 ? 'this call' : `these ${calls.toLocaleString('en-US')} calls`;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-ink-soft">
        Calls before now stay without a price until they are priced again. What each was before is kept with it.
      </p>
      {!starting.isSuccess && (
        <div>
          <Button look="primary" isBusy={starting.isPending} onClick={() => starting.mutate()}>
            Price {what} again
          </Button>
        </div>
      )}
      {job !== null && (
        <div tabIndex={-1} ref={focusOnMount} className="outline-none">
          <JobProgress job={job} />
        </div>
      )}
      {job !== null && readRepriceOutcome(job)?.calls === 0 && (
        <p className="text-ink-soft">
          No call is billed under this name alone; another model used it within its calls.{' '}
          <Link to="/prices" search={{ tab: 'reprice', f: [...filters.slice(0, 1)] }} className={buttonClass()}>
            Price all of the provider’s again…
          </Link>
        </p>
      )}
      {starting.error !== null && (
        <p role="alert" className="text-bad">
          {starting.error.message}
        </p>
      )}
    </div>
  );
}
