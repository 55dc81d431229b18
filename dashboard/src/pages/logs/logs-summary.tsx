/** The sums over what is filtered, and when it happened. */
import { useQuery } from '@tanstack/react-query';
import type { LogSummaryBody } from '../../../../src/admin/log-bodies.ts';
import { formatMoney, formatSum } from '../../../../src/format-amounts.ts';
import { parseUsd } from '../../../../src/usd.ts';
import { ApiError } from '../../api/client.ts';
import { type LogsQuestion, logsSummaryQuery } from '../../api/logs.ts';
import { Count, Duration, Money, Share } from '../../components/amounts.tsx';
import { Histogram, type HistogramBucket } from '../../components/histogram.tsx';
import { ErrorState } from '../../components/states.tsx';
import { type SummaryFigure, SummaryStrip } from '../../components/summary-strip.tsx';

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function listFigures(summary: LogSummaryBody): readonly SummaryFigure[] {
  const input = summary.input_tokens + summary.cache_read_input_tokens + summary.cache_creation_input_tokens;
  return [
    { name: 'Cost', value: <Money value={summary.total_cost} unpriced={summary.unpriced_calls} /> },
    { name: 'Calls', value: <Count value={summary.calls} unit="calls" /> },
    {
      name: 'Errors',
      value: <Count value={summary.errors} unit="calls" />,
      detail: <Share value={share(summary.errors, summary.calls)} />,
    },
    { name: 'Tokens in', value: <Count value={input} unit="tokens" /> },
    { name: 'Read from cache', value: <Share value={share(summary.cache_read_input_tokens, input)} /> },
    { name: 'Tokens out', value: <Count value={summary.output_tokens} unit="tokens" /> },
    { name: 'Median', value: <Duration ms={summary.p50_duration_ms} /> },
    { name: '95th percentile', value: <Duration ms={summary.p95_duration_ms} /> },
  ];
}

function toBucket({
  start,
  calls,
  errors,
  total_cost,
  unpriced_calls,
}: LogSummaryBody['buckets'][number]): HistogramBucket {
  const cost =
    unpriced_calls === 0 ? formatMoney(parseUsd(total_cost)) : formatSum(parseUsd(total_cost), unpriced_calls);
  return {
    start,
    value: calls,
    errorShare: calls === 0 ? 0 : errors / calls,
    label: `${calls} ${calls === 1 ? 'call' : 'calls'}${errors > 0 ? `, ${errors} with errors` : ''}, ${cost}`,
  };
}

interface LogsSummaryProps {
  readonly question: LogsQuestion;
  readonly onSelect: (from: string, to: string) => void;
}

export function LogsSummaryStrip({ question, onSelect }: LogsSummaryProps) {
  const { data, error, refetch } = useQuery(logsSummaryQuery(question));
  if (data === undefined)
    // The height of what is coming, so that the list does not jump.
    // A filter that cannot be read is said at the filters.
    return error === null || (error instanceof ApiError && error.status === 400) ? (
      <div className="h-32" />
    ) : (
      <ErrorState error={error} what="the sums" onRetry={() => void refetch()} />
    );
  return (
    <>
      <SummaryStrip label="Sums over the calls" figures={listFigures(data)} />
      <Histogram
        label="Calls over time"
        buckets={data.buckets.map(toBucket)}
        bucketMs={data.bucket_ms}
        onSelect={onSelect}
      />
    </>
  );
}
