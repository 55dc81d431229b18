/** The values that occur among the calls of the list, with how often. */
import { useQuery } from '@tanstack/react-query';
import { type LogsQuestion, logsFacetsQuery } from '../../api/logs.ts';
import { OUTCOMES } from '../../components/badges.tsx';
import { FacetRail } from '../../components/facet-rail.tsx';
import type { KeyNames } from '../../search/dimensions.ts';

const LABELS: Readonly<Record<string, string>> = {
  provider: 'Provider',
  model: 'Model',
  outcome: 'Outcome',
  status: 'HTTP status',
  endpoint: 'Endpoint',
  key_id: 'Key',
  client: 'Client',
};

interface LogsFacetsProps {
  readonly question: LogsQuestion;
  readonly keyNames: KeyNames;
  readonly onToggle: (filter: string) => void;
}

function nameOf(column: string, value: string, keyNames: KeyNames): string {
  if (column === 'key_id') return keyNames.get(value) ?? `key ${value}`;
  return column === 'outcome' ? (OUTCOMES[value]?.word ?? value) : value;
}

export function LogsFacets({ question, keyNames, onToggle }: LogsFacetsProps) {
  const { data } = useQuery(logsFacetsQuery(question));
  const facets = (data?.data ?? [])
    .filter(({ values }) => values.length > 0)
    .map(({ column, values, other_calls, unset_calls }) => ({
      field: column,
      label: LABELS[column] ?? column.replace(/^metadata\./, ''),
      values: [
        ...values.map(({ value, calls }) => ({ value, label: nameOf(column, value, keyNames), count: calls })),
        ...(unset_calls > 0 ? [{ value: null, count: unset_calls }] : []),
      ],
      others: other_calls,
    }));
  if (facets.length === 0) return null;
  const note =
    data?.is_sampled === true
      ? `Counted over the newest ${data.scanned_calls.toLocaleString('en-US')} calls.`
      : undefined;
  return <FacetRail facets={facets} filters={question.f} onToggle={onToggle} note={note} />;
}
