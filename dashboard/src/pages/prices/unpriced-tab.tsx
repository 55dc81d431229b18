/** Calls without a price, by model: why, how much was used, and the way to give them one. On a narrow screen, cards. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { type UnpricedModel, unpricedQuery } from '../../api/prices.ts';
import { Count, Money } from '../../components/amounts.tsx';
import { Button } from '../../components/buttons.tsx';
import { type PlainColumn, PlainTable } from '../../components/plain-table.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { SumsSince, usePatience } from '../../components/sums-since.tsx';
import { TimeRange } from '../../components/time-range.tsx';
import type { WindowSearch } from '../../search/time-window.ts';
import { useTimeWindow } from '../../search/use-time-window.ts';
import { createForm, type DeclarationForm } from './declaration-form.ts';
import { DeclareDialog } from './declare-dialog.tsx';
import { type PricesSearch, USUAL_RANGE } from './prices-search.ts';
import { repriceFilters } from './reprice-filters.ts';
import { RepriceOffer } from './reprice-offer.tsx';
import { ModelName, Reason, Seen, type UnpricedAction, UnpricedActions, Usage } from './unpriced-parts.tsx';

interface UnpricedTableProps {
  readonly rows: readonly UnpricedModel[];
  readonly window: WindowSearch;
  readonly onAction: (action: UnpricedAction) => void;
}

function KnownCost({ row }: { readonly row: UnpricedModel }) {
  return <Money value={row.known_cost} unpriced={row.calls} />;
}

function rowKey({ provider, model, endpoint, reason, terms }: UnpricedModel): string {
  return JSON.stringify([provider, model, endpoint, reason, terms]);
}

function listColumns({ window, onAction }: UnpricedTableProps): readonly PlainColumn<UnpricedModel>[] {
  return [
    { header: 'Model', render: (row) => <ModelName row={row} window={window} /> },
    { header: 'Why', render: (row) => <Reason row={row} /> },
    { header: 'Calls', align: 'right', render: ({ calls }) => <Count value={calls} unit="calls" /> },
    { header: 'Tokens in → out', align: 'right', render: (row) => <Usage row={row} /> },
    { header: 'Known cost', align: 'right', render: (row) => <KnownCost row={row} /> },
    { header: 'Seen', render: (row) => <Seen row={row} /> },
    {
      header: 'Action',
      align: 'right',
      render: (row) => <UnpricedActions row={row} window={window} onAction={onAction} />,
    },
  ];
}

function UnpricedTable(props: UnpricedTableProps) {
  const { rows, window, onAction } = props;
  return (
    <PlainTable
      label="Models without a price"
      columns={listColumns(props)}
      rows={rows}
      rowKey={rowKey}
      renderCard={(row) => (
        <>
          <ModelName row={row} window={window} />
          <Reason row={row} />
          <p className="text-ink-soft">
            <Count value={row.calls} unit="calls" /> {row.calls === 1 ? 'call' : 'calls'}, <Usage row={row} />, known{' '}
            <KnownCost row={row} />
          </p>
          <div className="flex flex-wrap items-end justify-between gap-2">
            <span>
              <Seen row={row} />
            </span>
            <UnpricedActions row={row} window={window} onAction={onAction} />
          </div>
        </>
      )}
    />
  );
}

function startForm({ what, subject }: UnpricedAction): DeclarationForm {
  return createForm(what, { provider: subject.provider, model: subject.model ?? '' });
}

interface UnpricedTabProps {
  readonly search: PricesSearch;
  readonly onWindow: (window: WindowSearch) => void;
}

export function UnpricedTab({ search, onWindow }: UnpricedTabProps) {
  const window = useTimeWindow(search, USUAL_RANGE);
  const { waitMs, onContinue } = usePatience(window);
  const { data, error, isFetching, refetch } = useQuery(unpricedQuery(window, waitMs));
  const [opened, setOpened] = useState<UnpricedAction | null>(null);
  // Logs have another usual window: the links name this one.
  const linked = search.from === undefined && search.to === undefined ? { range: search.range ?? USUAL_RANGE } : window;
  const isUsual = search.range === undefined && search.from === undefined && search.to === undefined;
  return (
    <div className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="text-ink-soft">What is not known is never counted as zero. Most calls first.</p>
        <TimeRange search={search} usual={USUAL_RANGE} onChange={onWindow} />
      </div>
      {data === undefined && <Pending query={{ error, refetch }} what="the calls without a price" rows={4} />}
      <SumsSince
        what="Sums over calls"
        at={data?.searched_to ?? null}
        isFetching={isFetching}
        onContinue={onContinue}
      />
      {data !== undefined && data.data.length === 0 && data.searched_to === null && (
        <EmptyState
          title="Every call in this time range has a price"
          actions={!isUsual && <Button onClick={() => onWindow({})}>Last 30 days</Button>}
        >
          A model that the price book does not know appears here with its first call.
        </EmptyState>
      )}
      {data !== undefined && data.data.length > 0 && (
        <>
          <UnpricedTable rows={data.data} window={linked} onAction={setOpened} />
          {data.next_cursor !== null && (
            <p className="text-xs text-ink-faint">
              These are the first {data.data.length}; there are more. Give them a price, or choose a shorter time.
            </p>
          )}
        </>
      )}
      {opened !== null && (
        <DeclareDialog
          start={startForm(opened)}
          isSaved={false}
          wantedRates={opened.subject.missing}
          onClose={() => setOpened(null)}
          renderNext={() => (
            <RepriceOffer
              calls={opened.subject.calls}
              from={window.from}
              filters={repriceFilters(opened.subject)}
              reason={opened.what === 'override' ? 'a price was added' : 'the id was mapped to a model'}
            />
          )}
        />
      )}
    </div>
  );
}
