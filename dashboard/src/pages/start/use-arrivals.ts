/** What reaches the gateway while the page is open, newest first: calls, and attempts that were refused with the reason. */
import { useState } from 'react';
import type { Attempt } from '../../../../src/control/admin/attempts-resource.ts';
import type { LogRow } from '../../../../src/control/store/log-columns.ts';
import { apiPath } from '../../api/client.ts';
import { type StreamState, useEvents } from '../../api/use-events.ts';

export type Arrival =
  | { readonly type: 'call'; readonly key: string; readonly at: string; readonly call: LogRow }
  | { readonly type: 'attempt'; readonly key: string; readonly at: string; readonly attempt: Attempt };

/** More are not shown: the Logs page has them. */
const MAX_ARRIVALS = 20;

function toArrival(name: string, data: string): Arrival {
  if (name === 'call') {
    const call: LogRow = JSON.parse(data);
    return { type: 'call', key: String(call.id), at: String(call.requested_at), call };
  }
  const attempt: Attempt = JSON.parse(data);
  return { type: 'attempt', key: `${attempt.at} ${attempt.code} ${attempt.path}`, at: attempt.at, attempt };
}

export interface Arrivals {
  readonly arrivals: readonly Arrival[];
  readonly state: StreamState;
}

export function useArrivals(): Arrivals {
  const [arrivals, setArrivals] = useState<readonly Arrival[]>([]);
  const state = useEvents(apiPath('/attempts/stream'), ['call', 'attempt'], (name, data) => {
    const arrival = toArrival(name, data);
    setArrivals((before) =>
      // A resumed stream may repeat what is shown already.
      [arrival, ...before.filter(({ key }) => key !== arrival.key)]
        .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
        .slice(0, MAX_ARRIVALS),
    );
  });
  return { arrivals, state };
}
