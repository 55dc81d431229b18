/** After a price was added for calls without one: the button that prices exactly these again, and how far that is. */

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { startReprice } from '../../api/reprice.ts';
import { Button, buttonClass } from '../../components/buttons.tsx';
import { focusOnMount } from '../../components/dialog.tsx';
import { JobProgress } from '../../components/job-progress.tsx';
import { Problem } from '../../components/states.tsx';
import { useJob } from '../../components/use-job.ts';
import type { DeclarationForm } from './declaration-form.ts';
import { filtersOf, REPRICED } from './reprice-filters.ts';
import { readRepriceOutcome } from './reprice-job.ts';

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
            Reprice all of the provider’s calls…
          </Link>
        </p>
      )}
      <Problem message={starting.error?.message} />
    </div>
  );
}

interface RepriceLinkProps {
  readonly form: DeclarationForm;
  /** The address closes a form that stands in it; another is closed by its owner. */
  readonly onFollow?: () => void;
}

export function RepriceLink({ form, onFollow }: RepriceLinkProps) {
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-2 text-ink-soft">
      Calls before now keep the cost they have.
      <Link
        to="/prices"
        search={{ tab: 'reprice', only: 'all', f: [...filtersOf(form)] }}
        onClick={onFollow}
        className={buttonClass()}
      >
        Reprice earlier calls…
      </Link>
    </p>
  );
}
