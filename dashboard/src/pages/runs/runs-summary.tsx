/** The sums over the runs of the window, and their cost over time. */
import { useQuery } from '@tanstack/react-query';
import { formatSum } from '../../../../src/vocabulary/format-amounts.ts';
import { parseUsd } from '../../../../src/vocabulary/usd.ts';
import { type RunSummary, type RunsQuestion, runSummaryQuery } from '../../api/runs.ts';
import { Count, Duration, Money, Share } from '../../components/amounts.tsx';
import type { HistogramBucket } from '../../components/histogram.tsx';
import { ListSums, shareOf } from '../../components/list-parts.tsx';
import type { SummaryFigure } from '../../components/summary-strip.tsx';
import { usePatience } from '../../components/sums-since.tsx';

function listFigures(summary: RunSummary): readonly SummaryFigure[] {
  const input = summary.input_tokens + summary.cache_read_input_tokens + summary.cache_creation_input_tokens;
  return [
    { name: 'Cost', value: <Money value={summary.total_cost} unpriced={summary.unpriced_calls} /> },
    { name: 'Runs', value: <Count value={summary.runs} unit="runs" /> },
    { name: 'Calls', value: <Count value={summary.calls} unit="calls" /> },
    {
      name: 'Runs with errors',
      value: <Count value={summary.runs_with_errors} unit="runs" />,
      detail: <Share value={shareOf(summary.runs_with_errors, summary.runs)} />,
    },
    { name: 'Read from cache', value: <Share value={shareOf(summary.cache_read_input_tokens, input)} /> },
    { name: 'Tokens out', value: <Count value={summary.output_tokens} unit="tokens" /> },
    { name: 'Median', value: <Duration ms={summary.p50_duration_ms} /> },
    { name: '95th percentile', value: <Duration ms={summary.p95_duration_ms} /> },
  ];
}

/** The height is money, as a float: the figure beside it is exact. */
function toBucket({ start, runs, errors, total_cost }: RunSummary['buckets'][number]): HistogramBucket {
  return {
    start,
    value: Number(total_cost),
    errorShare: errors === 0 || runs === 0 ? 0 : Math.min(1, errors / runs),
    label: `${formatSum(parseUsd(total_cost), 0)}, ${runs} ${runs === 1 ? 'run' : 'runs'}${errors > 0 ? `, ${errors} failed calls` : ''}`,
  };
}

interface RunsSummaryProps {
  readonly question: RunsQuestion;
  readonly refetchMs: number | false;
  readonly onSelect: (from: string, to: string) => void;
}

export function RunsSummaryStrip({ question, refetchMs, onSelect }: RunsSummaryProps) {
  const { waitMs, onContinue } = usePatience(question);
  return (
    <ListSums
      query={useQuery({ ...runSummaryQuery(question, waitMs), refetchInterval: refetchMs })}
      what="runs"
      onContinue={onContinue}
      label="Sums over the runs"
      barsLabel="Cost of the runs over time"
      listFigures={listFigures}
      toBucket={toBucket}
      onSelect={onSelect}
    />
  );
}
