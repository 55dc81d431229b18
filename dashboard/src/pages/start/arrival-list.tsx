/** The calls and refused attempts of Get started, each with its verdict. */
import { Link } from '@tanstack/react-router';
import { Duration, Money, Tokens } from '../../components/amounts.tsx';
import { Badge, StatusBadge } from '../../components/badges.tsx';
import { Timestamp } from '../../components/timestamp.tsx';
import type { Arrival } from './use-arrivals.ts';

function CallVerdict({ arrival }: { readonly arrival: Extract<Arrival, { type: 'call' }> }) {
  const { call } = arrival;
  const isFine = call.outcome === 'ok';
  return (
    <>
      <StatusBadge outcome={call.outcome ?? 'unknown'} status={call.status ?? null} />
      <Link
        to="/log/$id"
        params={{ id: String(call.id) }}
        className="min-w-0 truncate font-medium text-accent underline-offset-4 hover:underline"
      >
        {call.model ?? call.model_requested ?? call.endpoint}
      </Link>
      {isFine ? (
        <span className="text-ink-soft">
          <Duration ms={call.duration_ms ?? null} /> · <Money value={call.total_cost ?? null} /> · <Tokens of={call} />
        </span>
      ) : (
        <span className="w-full break-words text-ink-soft">
          {call.status === 401 ? 'The provider refused its own credentials; the gateway key is fine. ' : ''}
          {call.error_message ?? call.error_type}
        </span>
      )}
    </>
  );
}

function AttemptVerdict({ arrival }: { readonly arrival: Extract<Arrival, { type: 'attempt' }> }) {
  const { attempt } = arrival;
  return (
    <>
      <Badge tone="bad">
        {attempt.status} {attempt.code}
      </Badge>
      <code className="min-w-0 truncate font-mono text-xs" title={attempt.path}>
        {attempt.method} {attempt.path}
      </code>
      {attempt.client_address !== null && <span className="text-ink-soft">from {attempt.client_address}</span>}
      <span className="w-full break-words text-ink-soft">{attempt.verdict}</span>
    </>
  );
}

export function ArrivalList({ arrivals }: { readonly arrivals: readonly Arrival[] }) {
  return (
    <ol aria-label="What arrived, newest first" className="flex flex-col divide-y divide-line">
      {arrivals.map((arrival) => (
        <li key={arrival.key} className="flex flex-wrap items-center gap-x-2 gap-y-1 py-2">
          <span className="text-xs text-ink-faint">
            <Timestamp at={arrival.at} form="time" />
          </span>
          {arrival.type === 'call' ? <CallVerdict arrival={arrival} /> : <AttemptVerdict arrival={arrival} />}
        </li>
      ))}
    </ol>
  );
}
