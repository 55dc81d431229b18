/** Asks the supervisor for its status over the message channel. */
import type { SupervisorStatus, UpMessage } from '../../vocabulary/channel.ts';

const ANSWER_LIMIT_MS = 2_000;
/** Further questions are not asked. */
const MAX_QUESTIONS = 100;

export interface StatusReader {
  readonly read: () => Promise<SupervisorStatus | null>;
  readonly onStatus: (requestId: number, status: SupervisorStatus) => void;
}

export function createStatusReader(send: (message: UpMessage) => boolean): StatusReader {
  const waiting = new Map<number, (status: SupervisorStatus | null) => void>();
  let lastId = 0;
  return {
    read: () => {
      if (waiting.size >= MAX_QUESTIONS) return Promise.resolve(null);
      lastId += 1;
      const requestId = lastId;
      const { promise, resolve } = Promise.withResolvers<SupervisorStatus | null>();
      const timer = setTimeout(() => resolve(null), ANSWER_LIMIT_MS);
      waiting.set(requestId, resolve);
      if (!send({ type: 'status-request', requestId })) resolve(null);
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.delete(requestId);
      });
    },
    onStatus: (requestId, status) => waiting.get(requestId)?.(status),
  };
}
