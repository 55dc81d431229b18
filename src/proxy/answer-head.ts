/** The head of a provider's answer: as received, and as the client gets it. */
import { isHopByHop, readNominated } from '../wire/hop-by-hop.ts';

export class AnswerHead {
  readonly status: number;
  /** Flat, as received. */
  readonly rawHeaders: readonly string[];
  /** The names in `rawHeaders`, in lower case. */
  readonly names: readonly string[];

  constructor(status: number, rawHeaders: readonly string[], names: readonly string[]) {
    this.status = status;
    this.rawHeaders = rawHeaders;
    this.names = names;
  }

  /** First value by lower-case name. */
  header(name: string): string | null {
    const index = this.names.indexOf(name);
    return index === -1 ? null : (this.rawHeaders[index * 2 + 1] ?? null);
  }
}

/** The provider's headers less those of its hop, and the id of the call's record. */
export function headersForClient(
  rawHeaders: readonly string[],
  requestId: string,
): { headers: string[]; contentLength: number | null; names: string[] } {
  const headers: string[] = [];
  const names: string[] = [];
  let contentLength: number | null = null;
  let nominated: readonly string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    const value = rawHeaders[index + 1] ?? '';
    const lower = name.toLowerCase();
    names.push(lower);
    if (lower === 'connection') nominated = [...nominated, ...(readNominated(value) ?? [])];
    if (isHopByHop(lower) || lower.startsWith('x-gateway-')) continue;
    if (lower === 'content-length') contentLength = Number(value);
    headers.push(name, value);
  }
  headers.push('X-Gateway-Request-Id', requestId);
  return { headers: nominated.length === 0 ? headers : dropNamed(headers, nominated), contentLength, names };
}

export function dropNamed(headers: readonly string[], names: readonly string[]): string[] {
  const left: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (!names.includes((headers[index] ?? '').toLowerCase()))
      left.push(headers[index] ?? '', headers[index + 1] ?? '');
  }
  return left;
}
