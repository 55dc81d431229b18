/** The calls of runs in groups by one value: what each group cost. A group leads to its runs. */
import { useQuery } from '@tanstack/react-query';
import { parseUsd } from '../../../../src/vocabulary/usd.ts';
import { type RunGroup, type RunsQuestion, runGroupsQuery } from '../../api/runs.ts';
import { BarredCost, Count, Money, Tokens } from '../../components/amounts.tsx';
import { DataTable, figureColumn, type TableColumn } from '../../components/data-table.tsx';
import { FormerAnswer } from '../../components/former-answer.tsx';
import { EmptyState, Pending } from '../../components/states.tsx';
import { SumsSince, usePatience } from '../../components/sums-since.tsx';
import { groupFilters, type KeyNames } from '../../search/dimensions.ts';

interface RunsGroupsProps {
  readonly question: RunsQuestion;
  readonly by: string;
  readonly keyNames: KeyNames;
  readonly refetchMs: number | false;
  /** With what finds the calls of a group; the rest is found by nothing. */
  readonly onChoose: (filters: readonly string[]) => void;
}

function nameOf({ value, is_rest }: RunGroup, by: string, keyNames: KeyNames): string {
  if (is_rest) return 'All other groups';
  if (value === null) return '(not set)';
  return by === 'key' ? (keyNames.get(value) ?? `key ${value}`) : value;
}

function listColumns(by: string, keyNames: KeyNames, groups: readonly RunGroup[]): readonly TableColumn<RunGroup>[] {
  const whole = groups.reduce((sum, { total_cost }) => sum + Number(total_cost), 0);
  return [
    {
      id: 'value',
      header: by === 'key' ? 'Key' : by.replace(/^metadata\./, ''),
      width: 'minmax(12rem, 1fr)',
      render: (group) => (
        <span className={group.value === null ? 'text-ink-faint' : 'font-medium'} title={nameOf(group, by, keyNames)}>
          {nameOf(group, by, keyNames)}
        </span>
      ),
    },
    {
      id: 'cost',
      header: 'Cost',
      width: '8rem',
      align: 'right',
      render: ({ total_cost, unpriced_calls }) => (
        <BarredCost
          value={total_cost}
          unpriced={unpriced_calls}
          share={whole === 0 ? 0 : Number(parseUsd(total_cost)) / 1e12 / whole}
        />
      ),
    },
    figureColumn('runs', 'Runs', '5rem', ({ runs }) => <Count value={runs} unit="runs" />),
    figureColumn('calls', 'Calls', '5rem', ({ calls }) => <Count value={calls} unit="calls" />),
    figureColumn('errors', 'Errors', '5rem', ({ errors }) => <Count value={errors} unit="failed calls" />),
    figureColumn('tokens', 'Tokens in → out', '11rem', (group) => <Tokens of={group} />),
  ];
}

export function RunsGroups({ question, by, keyNames, refetchMs, onChoose }: RunsGroupsProps) {
  const { waitMs, onContinue } = usePatience({ question, by });
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    ...runGroupsQuery(question, by, waitMs),
    refetchInterval: refetchMs,
  });
  if (data === undefined) return <Pending query={{ error, refetch }} what="the groups" />;
  const since = (
    <SumsSince
      what={data.searched_to === null ? 'Numbers of runs' : 'Sums over calls'}
      at={data.searched_to ?? data.runs_searched_to}
      isFetching={isFetching}
      onContinue={onContinue}
    />
  );
  if (data.data.length === 0)
    return data.searched_to === null ? <EmptyState title="No calls of runs in this time range" /> : since;
  const choose = (group: RunGroup) => {
    if (!group.is_rest) onChoose(groupFilters([by], [group.value]));
  };
  return (
    <FormerAnswer isFormer={isPlaceholderData} className="flex min-h-0 flex-1 flex-col">
      {since}
      <DataTable
        label="Groups"
        columns={listColumns(by, keyNames, data.data)}
        rows={data.data}
        rowKey={(group) => (group.is_rest ? 'rest' : `value ${group.value ?? ''} ${group.value === null}`)}
        onSelect={choose}
        onOpen={choose}
        renderCard={(group) => (
          <>
            <p className="flex gap-2 font-medium">
              <span className="min-w-0 flex-1 truncate">{nameOf(group, by, keyNames)}</span>
              <Money value={group.total_cost} unpriced={group.unpriced_calls} />
            </p>
            <p className="text-xs text-ink-soft">
              <Count value={group.runs} /> {group.runs === 1 ? 'run' : 'runs'} · <Count value={group.calls} />{' '}
              {group.calls === 1 ? 'call' : 'calls'} · <Tokens of={group} />
            </p>
          </>
        )}
      />
    </FormerAnswer>
  );
}
