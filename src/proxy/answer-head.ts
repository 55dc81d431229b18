/** The head of a provider's answer: as received, and as the client gets it. */
import { readNominated } from '../wire/hop-by-hop.ts';
import type { HeaderName, HeaderNames } from './header-names.ts';

export class AnswerHead {
  readonly status: number;
  /** Flat, as received. */
  readonly rawHeaders: readonly string[];
  /** What the names in `rawHeaders` mean. */
  readonly names: readonly HeaderName[];

  constructor(status: number, rawHeaders: readonly string[], headerNames: HeaderNames) {
    const names: HeaderName[] = [];
    for (let index = 0; index < rawHeaders.length; index += 2) names.push(headerNames.read(rawHeaders[index] ?? ''));
    this.status = status;
    this.rawHeaders = rawHeaders;
    this.names = names;
  }

  /** First value by lower-case name. */
  header(lower: string): string | null {
    const { names } = this;
    for (let index = 0; index < names.length; index += 1) {
      if (names[index]?.lower === lower) return this.rawHeaders[index * 2 + 1] ?? null;
    }
    return null;
  }
}

/** The provider's headers less those of its hop, and the id of the call's record. */
export function headersForClient(
  { rawHeaders, names }: AnswerHead,
  requestId: string,
): { headers: string[]; contentLength: number | null } {
  const headers: string[] = [];
  let contentLength: number | null = null;
  let nominated: readonly string[] = [];
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index];
    const value = rawHeaders[index * 2 + 1] ?? '';
    if (name?.isFraming === true) {
      if (name.lower === 'connection') {
        const named = readNominated(value) ?? [];
        if (named.length > 0) nominated = [...nominated, ...named];
      }
      if (name.lower === 'content-length') contentLength = Number(value);
    }
    if (name?.isOfAnswerHop === false) headers.push(rawHeaders[index * 2] ?? '', value);
  }
  headers.push('X-Gateway-Request-Id', requestId);
  return { headers: nominated.length === 0 ? headers : dropNamed(headers, nominated), contentLength };
}

export function dropNamed(headers: readonly string[], names: readonly string[]): string[] {
  const left: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (!names.includes((headers[index] ?? '').toLowerCase()))
      left.push(headers[index] ?? '', headers[index + 1] ?? '');
  }
  return left;
}
