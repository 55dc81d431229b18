/** The checks that every SDK's test makes, over `sdk-comparison.ts`. What is expected is literal, in those tests. */
import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/fake-provider.ts';
import {
  answerFixture,
  describeError,
  readHeader,
  type SdkCall,
  type SdkComparison,
  type Side,
} from './sdk-comparison.ts';

type Headers = Readonly<Record<string, string>>;

export type CostAt = (requestedAt: Date) => string;

export interface SdkCase {
  readonly title: string;
  /** Fixture, as `provider/name`. */
  readonly answer: string;
  /** Added to the fixture's. */
  readonly answerHeaders?: Headers;
  readonly gatewayHeaders?: Headers;
  readonly call: SdkCall;
  /** What the program sees, or a part of it. */
  readonly result?: object;
  /** What the SDK throws. */
  readonly error?: { readonly name: string; readonly message: unknown; readonly status: number };
  /** A part of the record, with its exact cost. */
  readonly record: object;
  /** Where the price depends on the hour. */
  readonly costAt?: CostAt;
}

/** The record of a call that the provider refused: nothing was used, and nothing is billed. */
export const REFUSED_RECORD = {
  outcome: 'upstream_error',
  model: null,
  input_tokens: null,
  output_tokens: null,
  usage_source: 'none',
  total_cost: '0',
  cost_status: 'not_billed',
} as const;

export async function checkCase(comparison: SdkComparison, tested: SdkCase): Promise<void> {
  const { call, gatewayHeaders, error = null, result } = tested;
  const { through, records } = await comparison.compare({
    call,
    answer: () => answerFixture(tested.answer, tested.answerHeaders),
    ...(gatewayHeaders === undefined ? {} : { gatewayHeaders }),
  });
  expect(describeError(through.error)).toEqual(error);
  if (result !== undefined) expect(through.result).toMatchObject(result);
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject(tested.record);
  if (tested.costAt !== undefined) expectCost(records[0], tested.costAt);
}

/** What every SDK is asked beside its own cases: how a rate limit and a mistyped gateway key reach its program. */
export interface SdkTable {
  readonly name: string;
  readonly cases: readonly SdkCase[];
  /** Of every call. */
  readonly gatewayHeaders?: Headers;
  readonly limit: SdkLimit;
  /** What the SDK throws for a gateway key that is none. */
  readonly refusal: { readonly name: string; readonly message: unknown; readonly status: 401 };
}

export interface SdkLimit {
  readonly call: SdkCall;
  /** Fixture of the 429, with headers beside its own. */
  readonly limited: string;
  readonly limitedHeaders?: Headers;
  /** What the SDK throws, and what else it says of it. */
  readonly error: { readonly name: string; readonly message: unknown };
  readonly errorDetails?: object;
  /** The provider's `retry-after`, and where a program reads it. */
  readonly retryAfter?: { readonly value: string; readonly read: (side: Side) => string | null };
  /** A part of the record of the refused try. */
  readonly record: object;
  /** Beside the fixture's, where the SDK tries again: they make its wait short. */
  readonly retryHeaders: Headers;
  /** Fixture of the answer to the second try. */
  readonly answer: string;
  /** What the SDK says about its tries; null where it says nothing. */
  readonly attempts: readonly (number | null)[];
  readonly totalCost: string | CostAt;
}

export function testSdk(started: () => SdkComparison, { name, cases, gatewayHeaders = {}, limit, refusal }: SdkTable) {
  describe(name, () => {
    test.each(cases)('$title: as without the gateway, and recorded with its exact cost', (tested) =>
      checkCase(started(), { gatewayHeaders, ...tested }),
    );

    test('a rate limit: status, header and message reach the program', async () => {
      const { through, records } = await started().compare({
        call: limit.call,
        gatewayHeaders,
        answer: () => answerFixture(limit.limited, limit.limitedHeaders),
      });
      expect(describeError(through.error)).toEqual({ ...limit.error, status: 429 });
      if (limit.errorDetails !== undefined) expect(through.error).toMatchObject(limit.errorDetails);
      if (limit.retryAfter !== undefined) expect(limit.retryAfter.read(through)).toBe(limit.retryAfter.value);
      expect(through.requests).toHaveLength(1);
      expect(records).toMatchObject([{ ...REFUSED_RECORD, status: 429, ...limit.record }]);
    });

    test('a rate limit with retries on: the SDK waits as told, and each try is recorded', () =>
      checkRetry(started(), {
        ...limit,
        gatewayHeaders,
        limited: answerFixture(limit.limited, limit.retryHeaders),
      }));

    test('a gateway key that is none: the SDK shows why, once', () =>
      checkRefusal(started(), { call: limit.call, gatewayHeaders, error: refusal }));
  });
}

export interface RateLimited {
  readonly call: SdkCall;
  readonly limited: Answer;
  readonly answer: string;
  readonly gatewayHeaders?: Headers;
  /** What the SDK says about its tries; null where it says nothing. */
  readonly attempts: readonly (number | null)[];
  readonly totalCost: string | CostAt;
}

/** With the SDK's own retries on: one try is refused, the next goes through; each is a call with a record. */
export async function checkRetry(comparison: SdkComparison, tested: RateLimited): Promise<void> {
  const { through, records } = await comparison.compare({
    call: tested.call,
    answer: (_, index) => (index === 0 ? tested.limited : answerFixture(tested.answer)),
    retries: 1,
    ...(tested.gatewayHeaders === undefined ? {} : { gatewayHeaders: tested.gatewayHeaders }),
  });
  expect(through.error).toBeNull();
  expect(through.requests).toHaveLength(2);
  expect(records.map(({ status, outcome, attempt }) => ({ status, outcome, attempt }))).toEqual([
    { status: 429, outcome: 'upstream_error', attempt: tested.attempts[0] },
    { status: 200, outcome: 'ok', attempt: tested.attempts[1] },
  ]);
  expect(records.map((record) => record['cost_status'])).toEqual(['not_billed', 'exact']);
  expect(records[0]?.['total_cost']).toBe('0');
  const { totalCost } = tested;
  expectCost(records[1], typeof totalCost === 'string' ? () => totalCost : totalCost);
}

function expectCost(record: Readonly<Record<string, unknown>> | undefined, costAt: CostAt): void {
  expect(record?.['total_cost']).toBe(costAt(new Date(String(record?.['requested_at']))));
}

export interface RefusedByGateway {
  readonly call: SdkCall;
  readonly gatewayHeaders?: Headers;
  readonly error: { readonly name: string; readonly message: unknown; readonly status: number };
}

/** A key that is none: the program reads why, the SDK does not try again, the provider sees nothing. */
export async function checkRefusal(
  comparison: SdkComparison,
  { call, error, ...more }: RefusedByGateway,
): Promise<void> {
  const side = await comparison.callThrough({
    call,
    answer: () => answerFixture('openai/chat'),
    retries: 2,
    gatewayHeaders: { ...more.gatewayHeaders, 'X-Gateway-Key': 'tgk_mistyped' },
  });
  expect(describeError(side.error)).toEqual(error);
  expect(side.requests).toEqual([]);
  expect(side.exchanges.map(({ status, headers }) => [status, readHeader(headers, 'x-gateway-error')])).toEqual([
    [401, 'key_malformed'],
  ]);
}

/** The message of that refusal. */
export const KEY_MESSAGE =
  'The value of X-Gateway-Key is not a gateway key (tgk_…), or a part of it is missing or mistyped.';

/** Where an error of a Stainless SDK (openai, anthropic, together) has the answer's headers. */
export function retryAfterOfError({ error }: Side): string | null {
  if (typeof error !== 'object' || error === null || !('headers' in error)) return null;
  return error.headers instanceof globalThis.Headers ? error.headers.get('retry-after') : null;
}

/** For SDKs whose errors have no headers: a program that brings its own connection sees it there. */
export function retryAfterOfConnection({ exchanges }: Side): string | null {
  return readHeader(exchanges[0]?.headers ?? [], 'retry-after') ?? null;
}

export async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const chunks: T[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** 01:00 to 04:00 and 06:00 to 10:00 UTC, Monday to Friday (DeepSeek, models and pricing). */
export function isDeepseekPeak(at: Date): boolean {
  const hour = at.getUTCHours();
  return at.getUTCDay() % 6 !== 0 && ((hour >= 1 && hour < 4) || (hour >= 6 && hour < 10));
}
