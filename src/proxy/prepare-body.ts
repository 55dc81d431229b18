/**
 * What goes upstream as the body: the client's bytes, or, where a stream's usage has to be asked for, the same bytes
 * with that one member added. What the log wants to know of the body is read in `read-body-facts.ts`.
 */
import type { Readable } from 'node:stream';
import { askForUsage } from '../shapes/ask-usage.ts';
import type { CallFlag } from '../token-usage.ts';
import { isIdentity } from '../wire/content-encoding.ts';
import type { AcceptedRequest } from './accept.ts';
import { NO_BODY_FACTS, readBodyFacts } from './read-body-facts.ts';
import type { ReceivedBody } from './receive-body.ts';
import type { BodyFacts } from './record.ts';

export interface PreparedBody {
  readonly body: Buffer | Readable | null;
  /** True when usage was asked for here and the client's copy must not show it. */
  readonly isAsked: boolean;
  readonly facts: BodyFacts;
  readonly flags: readonly CallFlag[];
}

export function prepareBody(request: AcceptedRequest, received: ReceivedBody, mayAsk: boolean): PreparedBody {
  switch (received.kind) {
    case 'none':
    case 'client-gone':
      return { body: null, isAsked: false, facts: NO_BODY_FACTS, flags: [] };
    case 'streamed':
      // Its facts are read from the copy when the call has ended; so are those of an encoded body.
      return { body: received.stream, isAsked: false, facts: NO_BODY_FACTS, flags: mayAsk ? ['usage_not_asked'] : [] };
    case 'held': {
      const { bytes } = received;
      if (!isIdentity(request.header('content-encoding') ?? null)) {
        return { body: bytes, isAsked: false, facts: NO_BODY_FACTS, flags: mayAsk ? ['usage_not_asked'] : [] };
      }
      const facts = readBodyFacts(request.header('content-type') ?? null, bytes, bytes.length);
      if (!mayAsk || facts.streamed !== true) return { body: bytes, isAsked: false, facts, flags: [] };
      const { body, asked } = askForUsage(bytes);
      return { body, isAsked: asked, facts, flags: asked ? ['usage_asked'] : [] };
    }
  }
}

/** The client's headers with `accept-encoding: identity`, in its place, so that the asked-for stream can be edited. */
export function withoutCompression(headers: readonly string[]): string[] {
  const changed: string[] = [];
  let isFound = false;
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? '';
    if (name.toLowerCase() !== 'accept-encoding') changed.push(name, headers[index + 1] ?? '');
    else if (!isFound) {
      isFound = true;
      changed.push(name, 'identity');
    }
  }
  if (!isFound) changed.push('accept-encoding', 'identity');
  return changed;
}
