/** Get started: a key, the lines for one's client, and what arrives, live, with the reason when it is refused. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { keysQuery } from '../../api/keys.ts';
import { Allowed, useAllowed, useSession } from '../../app/session-context.tsx';
import { buttonClass } from '../../components/buttons.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { ErrorState, StaleNote } from '../../components/states.tsx';
import { ArrivalList } from './arrival-list.tsx';
import { DemoDataButtons } from './demo-data.tsx';
import { KeyStep } from './key-step.tsx';
import { SnippetStep } from './snippet-step.tsx';
import { StepCard, type StepState } from './step-card.tsx';
import { type Arrival, useArrivals } from './use-arrivals.ts';

function readFirstCallState(arrivals: readonly Arrival[]): StepState {
  if (arrivals.some((arrival) => arrival.type === 'call' && arrival.call.outcome === 'ok')) return 'done';
  return arrivals.length > 0 ? 'problem' : 'waiting';
}

function findRun(arrivals: readonly Arrival[]): string | null {
  for (const arrival of arrivals)
    if (arrival.type === 'call' && typeof arrival.call.trace_id === 'string') return arrival.call.trace_id;
  return null;
}

function findMetadataKey(arrivals: readonly Arrival[]): string | null {
  for (const arrival of arrivals) {
    if (arrival.type !== 'call') continue;
    const metadata = arrival.call.raw_metadata;
    const [key] = metadata !== null && typeof metadata === 'object' ? Object.keys(metadata) : [];
    if (key !== undefined) return key;
  }
  return null;
}

function NextSteps({ arrivals }: { readonly arrivals: readonly Arrival[] }) {
  const run = findRun(arrivals);
  const key = findMetadataKey(arrivals);
  return (
    <div className="grid gap-4 md:grid-cols-2">
      <StepCard number={4} title="First run" state={run === null ? 'to do' : 'done'}>
        <p className="mb-2 text-ink-soft">
          Calls that send the same X-Gateway-Trace-Id are one run. X-Gateway-Span-Path places each in its tree:
          agent/research/search.
        </p>
        {run !== null && (
          <Link to="/run" search={{ trace: run }} className={buttonClass('primary')}>
            See the run’s waterfall
          </Link>
        )}
      </StepCard>
      <StepCard number={5} title="First cost question" state={key === null ? 'to do' : 'done'}>
        <p className="mb-2 text-ink-soft">
          Any other header that begins with X-Gateway- is metadata, e.g. X-Gateway-Feature: search. Costs can be split
          by it.
        </p>
        {key !== null && (
          <Link to="/costs" search={{ by: `metadata.${key}` }} className={buttonClass('primary')}>
            Costs by {key}
          </Link>
        )}
      </StepCard>
    </div>
  );
}

export function StartPage() {
  const keys = useQuery(keysQuery);
  const session = useSession();
  const [secret, setSecret] = useState<string | null>(null);
  const { arrivals, state } = useArrivals();
  const mayMakeKeys = useAllowed('member');
  const usable = (keys.data?.data ?? []).filter(({ revoked_at }) => revoked_at === null);
  const hasKey = secret !== null || usable.length > 0;
  const callState = readFirstCallState(arrivals);
  return (
    <>
      <PageHeader
        title="Get started"
        about="Three steps to the first call. Nothing in your code changes but an address and a header."
        actions={
          <Allowed to="operator">
            <DemoDataButtons />
          </Allowed>
        }
      />
      {keys.error !== null && <ErrorState error={keys.error} what="the keys" onRetry={() => void keys.refetch()} />}
      {(state === 'reconnecting' || state === 'failed') && (
        <StaleNote>The live view lost its connection and tries again; calls go on meanwhile.</StaleNote>
      )}
      <div className="flex flex-col gap-4 px-4 pb-6">
        <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
          <StepCard number={1} title="A key" state={hasKey ? 'done' : 'to do'}>
            <Allowed to="member">
              <KeyStep existing={usable.length} secret={secret} onCreated={setSecret} />
            </Allowed>
            {!mayMakeKeys && <p className="text-ink-soft">A member or owner of the account makes keys.</p>}
          </StepCard>
          <StepCard number={2} title="Point your client here" state={callState === 'done' ? 'done' : 'to do'}>
            <SnippetStep baseUrl={session.base_url} keyPlaceholder={secret ?? '$TOLLGATE_KEY'} />
          </StepCard>
        </div>
        <StepCard number={3} title="First call" state={callState}>
          {arrivals.length === 0 ? (
            <p role="status" className="text-ink-soft">
              Waiting for a call. Refused attempts show here too, with the reason.
            </p>
          ) : (
            <ArrivalList arrivals={arrivals} />
          )}
        </StepCard>
        <NextSteps arrivals={arrivals} />
      </div>
    </>
  );
}
