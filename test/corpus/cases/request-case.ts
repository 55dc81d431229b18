/**
 * What a malformed or ambiguous request of the corpus is: its bytes, and what is to become of it and of a second request
 * that stands right behind it. The cases themselves are in the files `…-requests.ts`.
 */
import type { GatewayErrorCode } from '../../../src/vocabulary/errors.ts';

/** Where the gateway's key goes in a case's text. */
export const KEY = '{key}';

export type RequestOutcome =
  /** Refused with this code, the connection closed; the provider got no byte, and what stood behind was not run. */
  | { readonly kind: 'refused'; readonly code: GatewayErrorCode }
  /** The provider got exactly this request. `second`: the request behind it was run after it; else the connection closed. */
  | {
      readonly kind: 'passed';
      readonly method: string;
      readonly target: string;
      readonly body: string;
      readonly second: boolean;
    }
  /** Never whole, so what stands behind is a part of it: nothing was run, no byte reached the provider. */
  | { readonly kind: 'unfinished' }
  /** Never whole either, and too large to be held: the provider has a beginning of it, and nothing else. */
  | { readonly kind: 'streamed' }
  /** Broken after it had begun to pass: the provider never got it whole, nor anything behind it. */
  | { readonly kind: 'broken' };

export interface RequestCase {
  readonly name: string;
  /** Latin-1; `{key}` stands for a valid key. */
  readonly text: string;
  readonly outcome: RequestOutcome;
}

/** [name, text, outcome] */
export type RequestRow = readonly [string, string, RequestOutcome];

export function refused(code: GatewayErrorCode): RequestOutcome {
  return { kind: 'refused', code };
}

export const MALFORMED = refused('request_malformed');
export const UNFINISHED: RequestOutcome = { kind: 'unfinished' };
export const STREAMED: RequestOutcome = { kind: 'streamed' };
export const BROKEN: RequestOutcome = { kind: 'broken' };

export interface Passed {
  readonly method?: string;
  readonly target?: string;
  readonly body?: string;
  readonly second?: boolean;
}

export function passed({
  method = 'POST',
  target = '/v1/echo',
  body = '',
  second = true,
}: Passed = {}): RequestOutcome {
  return { kind: 'passed', method, target, body, second };
}

/** A request with a body: these header lines, then the body's bytes as they are on the wire. */
export function post(headers: readonly string[], wire: string, line = 'POST /v1/echo HTTP/1.1'): string {
  return [line, 'Host: gateway.test', `X-Gateway-Key: ${KEY}`, ...headers, '', wire].join('\r\n');
}

export function get(target: string, headers: readonly string[] = []): string {
  return [`GET ${target} HTTP/1.1`, 'Host: gateway.test', `X-Gateway-Key: ${KEY}`, ...headers, '', ''].join('\r\n');
}

export function rowsToCases(group: string, rows: readonly RequestRow[]): RequestCase[] {
  return rows.map(([name, text, outcome]) => ({ name: `${group}: ${name}`, text, outcome }));
}

/** How the outcomes are counted. */
export function classOf(outcome: RequestOutcome): string {
  switch (outcome.kind) {
    case 'refused':
      return `refused ${outcome.code}`;
    case 'passed':
      return outcome.second ? 'passed, then the second ran' : 'passed, then closed';
    case 'unfinished':
    case 'streamed':
    case 'broken':
      return outcome.kind;
  }
}
