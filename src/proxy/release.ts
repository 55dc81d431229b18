/** Last step: sends the last byte, breaks a cut connection, or refuses where no answer began. */
import type { Answer } from './answer.ts';
import type { AnswerEnding } from './answer-ending.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import { refusalOf } from './outcome.ts';
import { refuse } from './refuse.ts';

export function release(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  answer: Answer,
  ending: AnswerEnding,
  id: string,
): void {
  const refusal = refusalOf(ending, answer.head);
  const detail = ending.kind === 'no-answer' ? ending.failure.detail : undefined;
  if (refusal === null) answer.release();
  else refuse(incoming, outgoing, refusal, id, detail);
}
