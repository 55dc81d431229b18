/** Replaces the upstream's own addresses in `Location` and `results_url` by the gateway's, where so configured. */
import { isIdentity } from '../formats/wire/content-encoding.ts';
import type { AnswerHead } from './answer-head.ts';
import type { Route } from './route.ts';

/** Longer bodies pass unchanged; the largest list of batches is a tenth of it. */
export const MAX_EDITED_BYTES = 8 * 1024 * 1024;

type Addresses = NonNullable<Route['addresses']>;

/** Edits the client's copy; null when there is nothing to send yet. */
export interface AnswerEditor {
  push(chunk: Buffer): Buffer | null;
  finish(): Buffer | null;
}

/** Upload addresses stay: clients send no gateway key there and would be refused. */
export function leadHeadersBack(headers: string[], { addresses }: Route): string[] {
  if (addresses === null) return headers;
  return headers.map((value, index) =>
    index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'location' ? leadBack(value, addresses) : value,
  );
}

function leadBack(address: string, { from, to }: Addresses): string {
  const rest = address.slice(from.length);
  return address.startsWith(from) && (rest === '' || /^[/?#]/.test(rest)) ? to + rest : address;
}

/** Null where the body has no such address or cannot be edited. */
export function createLeadBack(route: Route, head: AnswerHead): AnswerEditor | null {
  const { addresses, endpoint } = route;
  const isJson = head.header('content-type')?.trim().toLowerCase().startsWith('application/json') === true;
  const isEditable = isJson && isIdentity(head.header('content-encoding')) && head.status < 300;
  return addresses !== null && isEditable && endpoint.namesResults === true ? createFilter(addresses) : null;
}

/** Holds the body until it is whole, since such bodies are small. */
function createFilter(addresses: Addresses): AnswerEditor {
  const held: Buffer[] = [];
  let heldBytes = 0;
  let isTooLarge = false;
  return {
    push: (chunk) => {
      if (isTooLarge) return chunk;
      held.push(chunk);
      heldBytes += chunk.length;
      if (heldBytes <= MAX_EDITED_BYTES) return null;
      isTooLarge = true;
      return Buffer.concat(held.splice(0));
    },
    finish: () => (isTooLarge ? null : editBody(Buffer.concat(held), addresses)),
  };
}

/** Latin-1 keeps every other byte as it was. */
function editBody(body: Buffer, addresses: Addresses): Buffer {
  const text = body
    .toString('latin1')
    .replace(/("results_url"\s*:\s*")([^"\\]*)"/g, (_, before: string, address: string) => {
      return `${before}${leadBack(address, addresses)}"`;
    });
  return Buffer.from(text, 'latin1');
}
