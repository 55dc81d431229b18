/** The limits of a proxy in the test's own process: the real bank of a supervisor, on the other end of a queue. */
import { LimitPurses } from '../../src/proxy/limits/limit-purses.ts';
import { createLimitBank } from '../../src/supervisor/limits/limit-bank.ts';
import type { LimitAnswer, LimitRecall } from '../../src/vocabulary/limit.ts';

export function openLocalLimits(): LimitPurses {
  const bank = createLimitBank();
  const child = {
    send: (message: LimitAnswer | LimitRecall) => {
      setImmediate(() => {
        if (message.type === 'limit-answer') purses.onAnswer(message);
        else purses.onRecall(message.subject);
      });
      return true;
    },
  };
  const purses = new LimitPurses((message) => {
    if (message.type === 'limit-ask') bank.ask(child, message);
    else bank.giveBack(child, message);
    return true;
  });
  return purses;
}
