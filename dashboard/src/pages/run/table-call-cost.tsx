/** What a call of the table cost. */
import { formatUsd } from '../../../../src/vocabulary/usd.ts';
import { CallCost } from '../../components/amounts.tsx';
import { type RunTable, textAt } from './model/run-table.ts';

export function TableCallCost({ table, row }: { readonly table: RunTable; readonly row: number }) {
  const amount = table.hasCost[row] === 0 ? null : formatUsd(table.totalCost[row] ?? 0n);
  const isWhole = table.unpriced[row] === 0;
  return (
    <CallCost
      total={isWhole ? amount : null}
      known={isWhole ? null : amount}
      status={textAt(table, table.costStatus, row)}
    />
  );
}
