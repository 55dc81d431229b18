/** The values that the runs of the window used, with how many runs did. */
import { useQuery } from '@tanstack/react-query';
import { type RunsQuestion, runFacetsQuery } from '../../api/runs.ts';
import { FacetRail } from '../../components/facet-rail.tsx';
import { type KeyNames, readDimension } from '../../search/dimensions.ts';

const LABELS: Readonly<Record<string, string>> = { model: 'Model', provider: 'Provider', key: 'Key' };

interface RunsFacetsProps {
  readonly question: RunsQuestion;
  readonly keyNames: KeyNames;
  readonly onToggle: (filter: string) => void;
}

export function RunsFacets({ question, keyNames, onToggle }: RunsFacetsProps) {
  const { data } = useQuery(runFacetsQuery(question));
  const facets = (data?.data ?? [])
    .filter(({ values }) => values.length > 0)
    .map(({ facet, values }) => ({
      field: readDimension(facet).field,
      label: LABELS[facet] ?? facet.replace(/^metadata\./, ''),
      values: values.map(({ value, runs }) => ({
        value,
        label: facet === 'key' ? (keyNames.get(value) ?? `key ${value}`) : value,
        count: runs,
      })),
    }));
  if (facets.length === 0) return null;
  return (
    <FacetRail
      facets={facets}
      filters={question.f}
      onToggle={onToggle}
      note={
        data?.is_sampled === true
          ? `Counted over the latest ${data.scanned_runs.toLocaleString('en-US')} runs.`
          : 'Runs in this time range that have the value.'
      }
    />
  );
}
