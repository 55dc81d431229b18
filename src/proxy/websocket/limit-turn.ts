/**
 * A turn of a websocket under limits: a request of its own, and its tokens when it has ended. It has gone out when the
 * limits are asked, so a connection is ended by the turn that they refuse, not before it.
 */
import type { Place } from '../limits/take-place.ts';
import type { TurnRecord } from './turn-measures.ts';

export function limitTurn(
  record: TurnRecord,
  taking: Place | null | Promise<Place>,
  onRefused: () => void,
): TurnRecord {
  if (taking === null) return record;
  const taken: Promise<Place | null> = Promise.resolve(taking).catch(() => {
    onRefused();
    return null;
  });
  return {
    ...record,
    end: async (ended, measure, ending) => {
      (await taken)?.settle(ended.reported);
      await record.end(ended, measure, ending);
    },
  };
}
