/** The head of a provider's answer: as received, and as the client gets it. */
import { readNominated } from '../formats/wire/hop-by-hop.ts';
import { isDigest, isTrailerField } from '../formats/wire/trailer-field.ts';
import type { HeaderName, HeaderNames } from './header-names.ts';

export class AnswerHead {
  readonly status: number;
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

/** The provider's headers without hop-by-hop ones, plus the record's id. `hasTrailers` lets `Trailer` pass too. */
export function headersForClient(
  { rawHeaders, names }: AnswerHead,
  requestId: string,
  hasTrailers = false,
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
    if (name?.isOfAnswerHop === false || (hasTrailers && name?.lower === 'trailer'))
      headers.push(rawHeaders[index * 2] ?? '', value);
  }
  headers.push('X-Gateway-Request-Id', requestId);
  return { headers: nominated.length === 0 ? headers : dropNamed(headers, nominated), contentLength };
}

/** The end-to-end trailers. `isEdited`: the body was changed, so the provider's digests no longer hold. */
export function trailersForClient(
  { rawHeaders, names }: AnswerHead,
  rawTrailers: readonly string[],
  headerNames: HeaderNames,
  isEdited: boolean,
): [string, string][] {
  const nominated = new Set(
    names.flatMap((name, index) =>
      name.lower === 'connection' ? (readNominated(rawHeaders[index * 2 + 1] ?? '') ?? []) : [],
    ),
  );
  const trailers: [string, string][] = [];
  for (let index = 0; index + 1 < rawTrailers.length; index += 2) {
    const spelling = rawTrailers[index] ?? '';
    const { lower, isOfAnswerHop } = headerNames.read(spelling);
    if (isOfAnswerHop || nominated.has(lower) || !isTrailerField(lower) || (isEdited && isDigest(lower))) continue;
    trailers.push([spelling, rawTrailers[index + 1] ?? '']);
  }
  return trailers;
}

export function dropNamed(headers: readonly string[], names: readonly string[]): string[] {
  const left: string[] = [];
  // A hostile provider names thousands.
  const dropped = new Set(names);
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (!dropped.has((headers[index] ?? '').toLowerCase())) left.push(headers[index] ?? '', headers[index + 1] ?? '');
  }
  return left;
}
