/** Costs: what was spent on what, over time. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Download, Table2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { type Costs, costsQuery } from '../../api/costs.ts';
import { isKeyChanging, isSameKey, type MetadataKey, metadataKeysQuery } from '../../api/metadata-keys.ts';
import { Allowed, useAllowed } from '../../app/session-context.tsx';
import { Button } from '../../components/buttons.tsx';
import { FilterBar, type FilterField } from '../../components/filter-bar.tsx';
import { FormerAnswer } from '../../components/former-answer.tsx';
import { JobProgress } from '../../components/job-progress.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Pending, StaleNote } from '../../components/states.tsx';
import { SumsSince, usePatience } from '../../components/sums-since.tsx';
import { TimeRange } from '../../components/time-range.tsx';
import { useJob } from '../../components/use-job.ts';
import { usePreferences } from '../../preferences.tsx';
import { formatGroupBy, metadataKeyOf, readDimension } from '../../search/dimensions.ts';
import { applyChange, changeOfFilters, type SearchChange } from '../../search/search-change.ts';
import { useTimeWindow } from '../../search/use-time-window.ts';
import { AlertOnThis } from '../brakes/alert-on-this.tsx';
import { useKeyNames } from '../log/use-key-name.ts';
import { PromoteDialog } from '../metadata/key-dialogs.tsx';
import { ShareButton } from '../share/share-button.tsx';
import { CostChart } from './cost-chart.tsx';
import { CostChartTable } from './cost-chart-table.tsx';
import { CostControls } from './cost-controls.tsx';
import { buildRows } from './cost-rows.ts';
import { buildSeries } from './cost-series.ts';
import { CostTable, CostTotals } from './cost-table.tsx';
import { type CostsSearch, USUAL_BY, USUAL_LIMIT, USUAL_RANGE } from './costs-search.ts';
import { NoCosts } from './no-costs.tsx';

const FILTER_FIELDS: readonly FilterField[] = [
  { field: 'any_model', label: 'Model' },
  { field: 'model', label: 'Model, as answered' },
  { field: 'model_requested', label: 'Model, as requested' },
  { field: 'provider', label: 'Provider' },
  { field: 'key_id', label: 'API key (number)' },
  { field: 'endpoint', label: 'Endpoint' },
  { field: 'span_key', label: 'Step' },
  { field: 'span_name', label: 'Span name' },
  { field: 'client', label: 'Client' },
  { field: 'outcome', label: 'Outcome' },
  { field: 'status', label: 'HTTP status' },
  { field: 'trace_id', label: 'Trace id' },
  { field: 'total_cost', label: 'Cost' },
  { field: 'service_tier', label: 'Service tier' },
];

const WIDE_MS = 29 * 86_400_000;

type Change = (change: SearchChange<CostsSearch>) => void;

interface CostsBodyProps {
  readonly costs: Costs;
  /** They answer the question before, and are no export of this one. */
  readonly isFormer: boolean;
  readonly by: readonly string[];
  readonly search: CostsSearch;
  readonly onChange: Change;
}

function CostsBody({ costs, isFormer, by, search, onChange }: CostsBodyProps) {
  const keyNames = useKeyNames();
  const series = useMemo(() => buildSeries(costs, by, keyNames), [costs, by, keyNames]);
  const rows = useMemo(() => buildRows(costs, by, keyNames), [costs, by, keyNames]);
  const looks = useMemo(() => new Map(series.map(({ key, look }) => [key, look])), [series]);
  const labels = by.map((id) => readDimension(id).label);
  const metric = search.metric ?? 'cost';
  const isTable = search.view === 'table';
  const filters = search.f ?? [];
  const isFixed = search.from !== undefined || search.to !== undefined;
  // Logs and Runs have another usual window: theirs must not be taken.
  const window = isFixed ? { from: costs.from, to: costs.to } : { range: search.range ?? USUAL_RANGE };
  const download = async () => (await import('./cost-csv.ts')).downloadCosts(costs, by, labels, rows);
  const onZoom = (chosen: { readonly from: string; readonly to: string }) => onChange({ range: undefined, ...chosen });
  return (
    <>
      <CostTotals totals={costs.totals} window={window} filters={filters} />
      {costs.totals.calls === 0 ? (
        <NoCosts
          filters={filters}
          onFilters={(next) => onChange(changeOfFilters(next))}
          onWiden={
            Date.parse(costs.to) - Date.parse(costs.from) >= WIDE_MS
              ? null
              : () => onChange({ range: '30d', from: undefined, to: undefined })
          }
        />
      ) : (
        <div className="flex flex-col gap-4 px-4 pb-6">
          <section aria-label="Over time" className="rounded-lg border border-line bg-panel p-3">
            <div className="mb-2 flex flex-wrap justify-end gap-2">
              <Button
                look="quiet"
                aria-pressed={isTable}
                onClick={() => onChange({ view: isTable ? undefined : 'table' })}
              >
                <Table2 size={15} aria-hidden /> {isTable ? 'Show as drawing' : 'Show as table'}
              </Button>
              <Button look="quiet" disabled={isFormer} onClick={() => void download()}>
                <Download size={15} aria-hidden /> CSV
              </Button>
            </div>
            {isTable ? (
              <CostChartTable costs={costs} series={series} metric={metric} onZoom={onZoom} />
            ) : (
              <CostChart
                costs={costs}
                series={series}
                metric={metric}
                only={search.only}
                onOnly={(only) => onChange({ only })}
                onZoom={onZoom}
              />
            )}
          </section>
          <CostTable
            labels={labels}
            rows={rows}
            looks={looks}
            starts={costs.bucket_starts}
            window={window}
            filters={filters}
          />
        </div>
      )}
    </>
  );
}

export function CostsPage() {
  const search = useSearch({ from: '/app/costs' });
  const navigate = useNavigate({ from: '/costs' });
  const { timeZone } = usePreferences();
  const window = useTimeWindow(search, USUAL_RANGE);
  const { by: first = USUAL_BY, by2 } = search;
  const by = useMemo(() => (by2 === undefined ? [first] : [first, by2]), [first, by2]);
  const question = {
    by,
    ...window,
    interval: search.interval ?? ('auto' as const),
    tz: timeZone,
    f: search.f ?? [],
    limit: search.limit ?? USUAL_LIMIT,
  };
  const { waitMs, onContinue } = usePatience(question);
  const { data, error, isPlaceholderData, isFetching, refetch } = useQuery(
    costsQuery({ ...question, wait_ms: waitMs }),
  );
  const { data: metadata } = useQuery({ ...metadataKeysQuery(), enabled: useAllowed('viewer') });
  const onChange: Change = (change) => void navigate({ search: (was) => applyChange(was, change) });
  const unpromoted = (metadata?.data ?? []).filter(
    ({ key, state }) => state !== 'promoted' && by.some((id) => isSameKey(metadataKeyOf(id) ?? '', key)),
  );
  const isShown = data !== undefined && !(isPlaceholderData && error !== null);
  const refusal = error instanceof ApiError && error.status === 400 && search.f !== undefined ? error.message : null;
  return (
    <>
      <PageHeader
        title="Costs"
        actions={
          <Allowed to="viewer">
            <ShareButton
              what={{
                page: 'costs',
                f: [...question.f],
                from: question.from,
                to: question.to,
                group_by: formatGroupBy(by),
              }}
            />
            <AlertOnThis about="calls" filters={question.f} measure={search.metric ?? 'cost'} />
            <TimeRange
              search={search}
              usual={USUAL_RANGE}
              onChange={(range) => onChange({ range: undefined, from: undefined, to: undefined, ...range })}
            />
          </Allowed>
        }
      />
      <Allowed to="viewer">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 pb-3">
          <CostControls
            search={search}
            metadataKeys={(metadata?.data ?? []).map(({ key }) => key)}
            onChange={onChange}
          />
          <FilterBar
            fields={FILTER_FIELDS}
            filters={search.f ?? []}
            onFilters={(next) => onChange(changeOfFilters(next))}
            problem={refusal}
          />
        </div>
      </Allowed>
      {unpromoted.map((key) => (
        <PromoteNote key={key.key} metadataKey={key} />
      ))}
      {error !== null && isShown && refusal === null && (
        <StaleNote>The gateway does not answer; these are its last figures.</StaleNote>
      )}
      {!isShown && refusal === null && <Pending query={{ error, refetch }} what="the costs" />}
      {isShown && (
        <FormerAnswer isFormer={isPlaceholderData}>
          <SumsSince what="Sums over calls" at={data.searched_to} isFetching={isFetching} onContinue={onContinue} />
          <CostsBody costs={data} isFormer={isPlaceholderData} by={by} search={search} onChange={onChange} />
        </FormerAnswer>
      )}
    </>
  );
}

/** Why costs by a key that is not promoted take longer, and the way to change it. */
function PromoteNote({ metadataKey }: { readonly metadataKey: MetadataKey }) {
  const [isOpen, setOpen] = useState(false);
  const isUnderWay = isKeyChanging(metadataKey.state);
  const job = useJob({ id: metadataKey.job_id, changes: ['metadata-keys', 'costs'], isUnderWay });
  return (
    <div
      role="note"
      className="mx-4 mb-3 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg border border-line bg-raised px-3 py-1.5"
    >
      <span className="min-w-0 break-words">
        <strong className="font-medium">{metadataKey.key}</strong>: answers come from the records
        {isUnderWay ? '.' : '; promote this key to make it instant.'}
      </span>
      {isUnderWay && job !== null && <JobProgress job={job} />}
      <Allowed to="member">{!isUnderWay && <Button onClick={() => setOpen(true)}>Promote</Button>}</Allowed>
      {isOpen && <PromoteDialog metadataKey={metadataKey} onClose={() => setOpen(false)} />}
    </div>
  );
}
