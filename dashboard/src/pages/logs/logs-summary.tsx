/** The sums over what is filtered, and when it happened. */
import { useQuery } from '@tanstack/react-query';
import type { LogSummaryBody } from '../../../../src/control/admin/log-bodies.ts';
import { formatMoney, formatSum } from '../../../../src/vocabulary/format-amounts.ts';
import { parseUsd } from '../../../../src/vocabulary/usd.ts';
import { type LogsQuestion, logsSummaryQuery } from '../../api/logs.ts';
import { Count, Duration, Money, Share } from '../../components/amounts.tsx';
import type { HistogramBucket } from '../../components/histogram.tsx';
import { ListSums, shareOf } from '../../components/list-parts.tsx';
import type { SummaryFigure } from '../../components/summary-strip.tsx';
import { usePatience } from '../../components/sums-since.tsx';

function listFigures(summary: LogSummaryBody): readonly SummaryFigure[] {
  const input = summary.input_tokens + summary.cache_read_input_tokens + summary.cache_creation_input_tokens;
  return [
    { name: 'Cost', value: <Money value={summary.total_cost} unpriced={summary.unpriced_calls} /> },
    { name: 'Calls', value: <Count value={summary.calls} unit="calls" /> },
    {
      name: 'Errors',
      value: <Count value={summary.errors} unit="calls" />,
      detail: <Share value={shareOf(summary.errors, summary.calls)} />,
    },
    { name: 'Tokens in', value: <Count value={input} unit="tokens" /> },
    { name: 'Read from cache', value: <Share value={shareOf(summary.cache_read_input_tokens, input)} /> },
    { name: 'Tokens out', value: <Count value={summary.output_tokens} unit="tokens" /> },
    { name: 'Median', value: <Duration ms={summary.p50_duration_ms} /> },
    { name: '95th percentile', value: <Duration ms={summary.p95_duration_ms} /> },
    { name: 'First token', value: <Duration ms={summary.p50_first_token_ms} /> },
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
  const { waitMs, onContinue } = usePatience(question);
  return (
    <ListSums
      query={useQuery(logsSummaryQuery(question, waitMs))}
      what="calls"
      onContinue={onContinue}
      label="Sums over the calls"
      barsLabel="Calls over time"
      listFigures={listFigures}
      toBucket={toBucket}
      onSelect={onSelect}
    />
  );
}
