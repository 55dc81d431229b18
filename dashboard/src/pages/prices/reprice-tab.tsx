/** Prices calls again: which ones, first as a dry run that changes nothing, then, with a reason, for good. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { isJobActive } from '../../api/jobs.ts';
import { type RepriceQuestion, startReprice } from '../../api/reprice.ts';
import { Button } from '../../components/buttons.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { InlineSelect } from '../../components/form-field.tsx';
import { JobProgress } from '../../components/job-progress.tsx';
import { TimeRange } from '../../components/time-range.tsx';
import { useJob } from '../../components/use-job.ts';
import { applyChange, changeOfFilters, type SearchChange } from '../../search/search-change.ts';
import { useTimeWindow } from '../../search/use-time-window.ts';
import { ApplyDialog } from './apply-dialog.tsx';
import { type PricesSearch, USUAL_RANGE } from './prices-search.ts';
import { RepriceDaysView } from './reprice-days.tsx';
import { REPRICED } from './reprice-filters.ts';
import { RepriceHistory } from './reprice-history.tsx';
import { readRepriceOutcome, readRepriceQuestion } from './reprice-job.ts';

const FIELDS: readonly FilterField[] = [
  { field: 'provider', label: 'Provider' },
  { field: 'billing_model', label: 'Model billed' },
  { field: 'model', label: 'Model' },
  { field: 'model_requested', label: 'Model requested' },
  { field: 'provider_alias', label: 'Provider alias' },
  { field: 'cost_status', label: 'Cost status' },
  { field: 'price_version', label: 'Price version' },
  { field: 'key_id', label: 'Key' },
];

const WHICH = [
  { value: 'unpriced', label: 'only calls without a whole price' },
  { value: 'all', label: 'all calls' },
] as const;

interface RepriceTabProps {
  readonly search: PricesSearch;
  readonly onChange: (change: SearchChange<PricesSearch>) => void;
}

export function RepriceTab({ search, onChange }: RepriceTabProps) {
  const queries = useQueryClient();
  const window = useTimeWindow(search, USUAL_RANGE);
  const only: RepriceQuestion['only'] = search.only ?? 'unpriced';
  const question = { ...window, f: search.f ?? [], only };
  const starting = useMutation({
    mutationFn: () => startReprice({ ...question, reason: '', dry_run: true }),
    // The window stands still now, so that what is applied is what the dry run looked at.
    onSuccess: async ({ job_id }) => {
      onChange({ job: job_id, range: undefined, ...window });
      await queries.invalidateQueries({ queryKey: ['jobs'] });
    },
  });
  const ask = (change: SearchChange<PricesSearch>) => {
    starting.reset();
    // A result belongs to what was asked.
    onChange((before) => applyChange({ ...before, job: undefined }, change));
  };
  const refusal = starting.error instanceof ApiError ? starting.error.message : null;
  return (
    <div className="flex flex-col gap-4 p-4">
      <p className="max-w-3xl text-ink-soft">
        History never changes by itself. Here earlier calls are priced again by today’s price book, each at its own
        time. A dry run shows the difference and changes nothing.
      </p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <TimeRange
          search={search}
          usual={USUAL_RANGE}
          onChange={(range) => ask({ range: undefined, from: undefined, to: undefined, ...range })}
        />
        <InlineSelect
          label="Which"
          value={only}
          choices={WHICH}
          onChange={(value) => ask({ only: value === 'all' ? 'all' : undefined })}
        />
        <div className="flex min-w-48 flex-1">
          <FilterBar
            fields={FIELDS}
            filters={search.f ?? []}
            onFilters={(next) => ask(changeOfFilters(next))}
            problem={refusal}
          />
        </div>
        <Button look="primary" isBusy={starting.isPending} onClick={() => starting.mutate()}>
          {starting.isPending ? 'Starting…' : 'Dry run'}
        </Button>
      </div>
      {search.job !== undefined && <CurrentJob jobId={search.job} onStarted={(job) => onChange({ job })} />}
      <RepriceHistory without={search.job} />
    </div>
  );
}

function CurrentJob({ jobId, onStarted }: { readonly jobId: number; readonly onStarted: (jobId: number) => void }) {
  const [isAsking, setAsking] = useState(false);
  const job = useJob({ id: jobId, changes: REPRICED, isUnderWay: false });
  const outcome = job === null ? null : readRepriceOutcome(job);
  const isApplicable = outcome?.dry_run === true && outcome.changed > 0;
  if (job === null) return null;
  return (
    <section aria-label="Result" className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <JobProgress job={job} />
        {isApplicable && (
          <Button look="primary" onClick={() => setAsking(true)}>
            Apply…
          </Button>
        )}
      </div>
      {outcome?.dry_run === true && outcome.changed === 0 && (
        <p className="text-ink-soft">
          Nothing would change: every one of these calls already has the cost that today’s prices give it.
        </p>
      )}
      {job.phase !== 'counting calls' && <RepriceDaysView jobId={job.id} isUnderWay={isJobActive(job.state)} />}
      {isAsking && outcome !== null && (
        <ApplyDialog
          // What this job looked at, whatever the fields above say by now.
          question={readRepriceQuestion(job)}
          outcome={outcome}
          onClose={() => setAsking(false)}
          onStarted={(started) => {
            setAsking(false);
            onStarted(started);
          }}
        />
      )}
    </section>
  );
}
