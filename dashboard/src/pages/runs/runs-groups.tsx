/** The calls of runs in groups by one value: what each group cost. A group leads to its runs. */
import { useQuery } from '@tanstack/react-query';
import { parseUsd } from '../../../../src/usd.ts';
import { type RunGroup, type RunsQuestion, runGroupsQuery } from '../../api/runs.ts';
import { Count, Money, Tokens } from '../../components/amounts.tsx';
import { DataTable, type TableColumn } from '../../components/data-table.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx';
import { filterByValue } from '../../search/filter-text.ts';
import type { KeyNames } from '../log/use-key-name.ts';
import { fieldOfFacet } from './runs-facets.tsx';

interface RunsGroupsProps {
  readonly question: RunsQuestion;
  readonly by: string;
  readonly keyNames: KeyNames;
  readonly refetchMs: number | false;
  /** Null: the rest, which no filter means. */
  readonly onChoose: (filter: string) => void;
}

function nameOf({ value, is_rest }: RunGroup, by: string, keyNames: KeyNames): string {
  if (is_rest) return 'All other groups';
  if (value === null) return '(not set)';
  return by === 'key' ? (keyNames.get(value) ?? `key ${value}`) : value;
}

function GroupTokens({ group }: { readonly group: RunGroup }) {
  return (
    <Tokens
      input={group.input_tokens}
      cacheRead={group.cache_read_input_tokens}
      cacheCreation={group.cache_creation_input_tokens}
      output={group.output_tokens}
    />
  );
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
        <span className="relative inline-block w-full pb-0.5">
          <Money value={total_cost} unpriced={unpriced_calls} />
          <span
            aria-hidden="true"
            className="absolute right-0 bottom-0 h-0.5 bg-bar"
            style={{ width: `${whole === 0 ? 0 : (Number(parseUsd(total_cost)) / 1e12 / whole) * 100}%` }}
          />
        </span>
      ),
    },
    {
      id: 'runs',
      header: 'Runs',
      width: '5rem',
      align: 'right',
      render: ({ runs }) => <Count value={runs} unit="runs" />,
    },
    {
      id: 'calls',
      header: 'Calls',
      width: '5rem',
      align: 'right',
      render: ({ calls }) => <Count value={calls} unit="calls" />,
    },
    {
      id: 'errors',
      header: 'Errors',
      width: '5rem',
      align: 'right',
      render: ({ errors }) => <Count value={errors} unit="failed calls" />,
    },
    {
      id: 'tokens',
      header: 'Tokens in → out',
      width: '11rem',
      align: 'right',
      render: (group) => <GroupTokens group={group} />,
    },
  ];
}

export function RunsGroups({ question, by, keyNames, refetchMs, onChoose }: RunsGroupsProps) {
  const { data, error, refetch } = useQuery({ ...runGroupsQuery(question, by), refetchInterval: refetchMs });
  if (error !== null && data === undefined)
    return <ErrorState error={error} what="the groups" onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={8} label="Loading the groups" />;
  if (data.data.length === 0) return <EmptyState title="No call of a run in this time" />;
  const choose = (group: RunGroup) => {
    if (!group.is_rest) onChoose(filterByValue(fieldOfFacet(by), group.value));
  };
  return (
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
            {group.calls === 1 ? 'call' : 'calls'} · <GroupTokens group={group} />
          </p>
        </>
      )}
    />
  );
}
