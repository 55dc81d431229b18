/** All steps of a run as a list: what each cost, its share, its tokens and time. */
import { formatUsd } from '../../../../src/usd.ts';
import { Count, Duration, Money, Share, Tokens } from '../../components/amounts.tsx';
import { DataTable, type TableColumn } from '../../components/data-table.tsx';
import { EmptyState } from '../../components/states.tsx';
import { readOneOf } from '../../search/list-search.ts';
import { identify, listNames, numberAt, type RunTable } from './model/run-table.ts';
import { listSteps, STEP_SORTS } from './model/step-summary.ts';

interface StepsViewProps {
  readonly table: RunTable;
  readonly sort: string | undefined;
  readonly onSort: (sort: string) => void;
  readonly selected: string | undefined;
  readonly onSelect: (identity: string) => void;
  readonly onOpen: (identity: string) => void;
}

function listColumns(table: RunTable): readonly TableColumn<number>[] {
  const share = (row: number) => (table.costBefore[table.end[row] ?? 0] ?? 0) - (table.costBefore[row] ?? 0);
  return [
    {
      id: 'path',
      header: 'Step',
      width: 'minmax(14rem, 1fr)',
      sort: 'path',
      render: (row) => {
        const path = listNames(table, row).join(' / ');
        return <span title={path}>{path}</span>;
      },
    },
    {
      id: 'calls',
      header: 'Calls',
      width: '5rem',
      align: 'right',
      sort: 'calls',
      render: (row) => <Count value={table.calls[row] ?? 0} unit="calls" />,
    },
    {
      id: 'cost',
      header: 'Cost',
      width: '7rem',
      align: 'right',
      sort: 'cost',
      render: (row) => <Money value={formatUsd(table.totalCost[row] ?? 0n)} unpriced={table.unpriced[row] ?? 0} />,
    },
    {
      id: 'share',
      header: 'Of the run',
      width: '5.5rem',
      align: 'right',
      render: (row) => <Share value={share(row)} />,
    },
    {
      id: 'own',
      header: 'Own cost',
      width: '7rem',
      align: 'right',
      sort: 'own',
      render: (row) => <Money value={formatUsd(table.ownCost[row] ?? 0n)} unpriced={table.ownUnpriced[row] ?? 0} />,
    },
    {
      id: 'tokens',
      header: 'Tokens in → out',
      width: '11rem',
      align: 'right',
      sort: 'tokens',
      render: (row) => (
        <Tokens
          input={numberAt(table.inputTokens, row)}
          cacheRead={numberAt(table.cacheReadTokens, row)}
          cacheCreation={numberAt(table.cacheCreationTokens, row)}
          output={numberAt(table.outputTokens, row)}
        />
      ),
    },
    {
      id: 'active',
      header: 'In a call',
      width: '6rem',
      align: 'right',
      sort: 'active',
      render: (row) => <Duration ms={table.activeMs[row] ?? 0} />,
    },
    {
      id: 'errors',
      header: 'Errors',
      width: '5rem',
      align: 'right',
      sort: 'errors',
      render: (row) => <Count value={table.errors[row] ?? 0} unit="failed calls" />,
    },
  ];
}

export function StepsView({ table, sort = '-cost', onSort, selected, onSelect, onOpen }: StepsViewProps) {
  const isDescending = sort.startsWith('-');
  const rows = listSteps(table, readOneOf(sort.replace(/^-/, ''), STEP_SORTS) ?? 'cost', isDescending);
  if (rows.length === 0)
    return (
      <EmptyState title="This run has no steps">
        Its calls carry no X-Gateway-Span-Path. With one, e.g. <code>agent/search</code>, they are put into steps.
      </EmptyState>
    );
  return (
    <DataTable
      label="Steps of the run"
      columns={listColumns(table)}
      rows={rows}
      rowKey={(row) => identify(table, row)}
      selectedKey={selected}
      onSelect={(row) => onSelect(identify(table, row))}
      onOpen={(row) => onOpen(identify(table, row))}
      sort={sort}
      onSort={onSort}
      rowHeightPx={32}
      renderCard={(row) => (
        <>
          <p className="truncate font-medium">{listNames(table, row).join(' / ')}</p>
          <p className="text-ink-soft">
            <Money value={formatUsd(table.totalCost[row] ?? 0n)} unpriced={table.unpriced[row] ?? 0} /> ·{' '}
            <Count value={table.calls[row] ?? 0} /> calls · <Duration ms={table.activeMs[row] ?? 0} />
          </p>
        </>
      )}
    />
  );
}
