/**
 * Answers what clients ask before their first call, without the headers of that call: is anybody there, what can it do.
 * A probe is no refused call, so it neither counts as one nor shows among the attempts.
 */
import { STATUS_CODES } from 'node:http';
import { isProbe } from '../providers/registry.ts';
import type { ClientRequest, ClientResponse } from './client-exchange.ts';
import { refuse } from './refuse.ts';
import type { ValidRequest } from './validate-request.ts';

const OK = 200;

/** False for anything else, which is a call. `key` is what came in the header; one in the address does as well. */
export function answerProbe(
  incoming: ClientRequest,
  outgoing: ClientResponse,
  { method, path, addressToken }: ValidRequest,
  key: string | undefined,
  id: string,
): boolean {
  const isHead = method === 'HEAD';
  const hasKey = key !== undefined || addressToken !== null;
  if (!isHead && hasKey) return false;
  const isKnown = (isHead && path === '/') || isProbe(`${method} ${path}`);
  // Nobody gets an answer of a model by HEAD, so one without a key is a health check of some kind.
  if (!isKnown && !(isHead && !hasKey)) return false;
  if (isHead && isKnown) {
    outgoing.writeHead(OK, STATUS_CODES[OK] ?? '', ['X-Gateway-Request-Id', id]);
    outgoing.end();
  } else refuse(incoming, outgoing, 'key_missing', id);
  return true;
}
