/** All steps of a run as a list: what each cost, its share, its tokens and time; and its calls in no step as one more. */
import { formatUsd } from '../../../../src/vocabulary/usd.ts';
import { Count, Duration, Money, Share, Tokens } from '../../components/amounts.tsx';
import { DataTable, figureColumn, type TableColumn } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/states.tsx';
import { readOneOf } from '../../search/list-search.ts';
import { identify, type RunTable } from './model/run-table.ts';
import { listSteps, STEP_SORTS, type StepLine } from './model/step-summary.ts';

/** Hundredths of a percent are enough for a share. */
const SHARE_SCALE = 10_000n;

interface StepsViewProps {
  readonly table: RunTable;
  readonly sort: string | undefined;
  readonly onSort: (sort: string) => void;
  readonly selected: string | undefined;
  readonly onSelect: (identity: string) => void;
  readonly onOpen: (identity: string) => void;
}

function listColumns(runCost: bigint): readonly TableColumn<StepLine>[] {
  const shareOf = (cost: bigint) => (runCost === 0n ? 0 : Number((cost * SHARE_SCALE) / runCost) / Number(SHARE_SCALE));
  return [
    {
      id: 'path',
      header: 'Step',
      width: 'minmax(14rem, 1fr)',
      sort: 'path',
      render: ({ path }) => <span title={path}>{path}</span>,
    },
    figureColumn('calls', 'Calls', '5rem', ({ calls }) => <Count value={calls} unit="calls" />, 'calls'),
    figureColumn(
      'cost',
      'Cost',
      '7rem',
      ({ cost, unpriced }) => <Money value={formatUsd(cost)} unpriced={unpriced} />,
      'cost',
    ),
    figureColumn('share', 'Of the run', '5.5rem', ({ cost }) => <Share value={shareOf(cost)} />),
    figureColumn(
      'own',
      'Own cost',
      '7rem',
      ({ ownCost, ownUnpriced }) => <Money value={formatUsd(ownCost)} unpriced={ownUnpriced} />,
      'own',
    ),
    figureColumn('tokens', 'Tokens in → out', '11rem', ({ tokens }) => <Tokens of={tokens} />, 'tokens'),
    figureColumn('active', 'In a call', '6rem', ({ activeMs }) => <Duration ms={activeMs} />, 'active'),
    figureColumn('errors', 'Errors', '5rem', ({ errors }) => <Count value={errors} unit="failed calls" />, 'errors'),
  ];
}

export function StepsView({ table, sort = '-cost', onSort, selected, onSelect, onOpen }: StepsViewProps) {
  const isDescending = sort.startsWith('-');
  const lines = listSteps(table, readOneOf(sort.replace(/^-/, ''), STEP_SORTS) ?? 'cost', isDescending);
  if (lines.length === 0) return <EmptyState title="No call of this run has ended yet" />;
  return (
    <DataTable
      label="Steps of the run"
      columns={listColumns(table.totalCost[0] ?? 0n)}
      rows={lines}
      rowKey={({ row }) => identify(table, row)}
      selectedKey={selected}
      onSelect={({ row }) => onSelect(identify(table, row))}
      onOpen={({ row }) => onOpen(identify(table, row))}
      sort={sort}
      onSort={onSort}
      rowHeightPx={32}
      renderCard={({ path, cost, unpriced, calls, activeMs }) => (
        <>
          <p className="truncate font-medium">{path}</p>
          <p className="text-ink-soft">
            <Money value={formatUsd(cost)} unpriced={unpriced} /> · <Count value={calls} />{' '}
            {calls === 1 ? 'call' : 'calls'} · <Duration ms={activeMs} />
          </p>
        </>
      )}
    />
  );
}
