/** All steps of a run as a list: what each cost, its share, its tokens and time; and its calls in no step as one more. */
import { formatUsd } from '../../../../src/usd.ts';
import { Count, Duration, Money, Share, Tokens } from '../../components/amounts.tsx';
import { DataTable, type TableColumn } from '../../components/data-table.tsx';
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
    {
      id: 'calls',
      header: 'Calls',
      width: '5rem',
      align: 'right',
      sort: 'calls',
      render: ({ calls }) => <Count value={calls} unit="calls" />,
    },
    {
      id: 'cost',
      header: 'Cost',
      width: '7rem',
      align: 'right',
      sort: 'cost',
      render: ({ cost, unpriced }) => <Money value={formatUsd(cost)} unpriced={unpriced} />,
    },
    {
      id: 'share',
      header: 'Of the run',
      width: '5.5rem',
      align: 'right',
      render: ({ cost }) => <Share value={shareOf(cost)} />,
    },
    {
      id: 'own',
      header: 'Own cost',
      width: '7rem',
      align: 'right',
      sort: 'own',
      render: ({ ownCost, ownUnpriced }) => <Money value={formatUsd(ownCost)} unpriced={ownUnpriced} />,
    },
    {
      id: 'tokens',
      header: 'Tokens in → out',
      width: '11rem',
      align: 'right',
      sort: 'tokens',
      render: (line) => (
        <Tokens
          input={line.inputTokens}
          cacheRead={line.cacheReadTokens}
          cacheCreation={line.cacheCreationTokens}
          output={line.outputTokens}
        />
      ),
    },
    {
      id: 'active',
      header: 'In a call',
      width: '6rem',
      align: 'right',
      sort: 'active',
      render: ({ activeMs }) => <Duration ms={activeMs} />,
    },
    {
      id: 'errors',
      header: 'Errors',
      width: '5rem',
      align: 'right',
      sort: 'errors',
      render: ({ errors }) => <Count value={errors} unit="failed calls" />,
    },
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
