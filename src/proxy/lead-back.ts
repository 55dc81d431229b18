/**
 * Addresses of the upstream's own in an answer become the gateway's, where the operator has set it: in `Location`, and
 * in the one member of a body that clients go to. Everything else passes as it is.
 */
import { isIdentity } from '../wire/content-encoding.ts';
import type { AnswerHead } from './answer-head.ts';
import type { ClientFilter } from './answer-options.ts';
import type { Route } from './route.ts';

/** A longer body passes as it is. The largest list of batches is a tenth of it. */
export const MAX_EDITED_BYTES = 8 * 1024 * 1024;

type Addresses = NonNullable<Route['addresses']>;

/** Null where all pass as they are. */
export function editHeadersOf({ addresses }: Route): ((headers: string[]) => string[]) | null {
  return addresses === null ? null : (headers) => leadHeadersBack(headers, addresses);
}

/** Flat. An upload's address stays: its clients send no gateway key there, and would be refused. */
function leadHeadersBack(headers: string[], addresses: Addresses): string[] {
  return headers.map((value, index) =>
    index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'location' ? leadBack(value, addresses) : value,
  );
}

function leadBack(address: string, { from, to }: Addresses): string {
  const rest = address.slice(from.length);
  return address.startsWith(from) && (rest === '' || /^[/?#]/.test(rest)) ? to + rest : address;
}

/** Null where the body has no such address, or cannot be edited. */
export function createLeadBack(route: Route, head: AnswerHead): ClientFilter | null {
  const { addresses, endpoint } = route;
  const isJson = head.header('content-type')?.trim().toLowerCase().startsWith('application/json') === true;
  const isEditable = isJson && isIdentity(head.header('content-encoding')) && head.status < 300;
  return addresses !== null && isEditable && endpoint.namesResults === true ? createFilter(addresses) : null;
}

/** The body is held until it is whole, and edited once: such bodies are small. */
function createFilter(addresses: Addresses): ClientFilter {
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

/** In Latin-1, so that every other byte stays what it was. */
function editBody(body: Buffer, addresses: Addresses): Buffer {
  const text = body
    .toString('latin1')
    .replace(/("results_url"\s*:\s*")([^"\\]*)"/g, (_, before: string, address: string) => {
      return `${before}${leadBack(address, addresses)}"`;
    });
  return Buffer.from(text, 'latin1');
}
