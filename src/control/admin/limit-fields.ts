/** Limits as the API has them, of keys and of accounts, and what is in use of them on this node. */
import { z } from '@hono/zod-openapi';
import type { LimitUse } from '../../vocabulary/limit.ts';
import type { LimitColumns } from '../store/call-limits.ts';

const MAX_CONCURRENT = 1_000_000;
const MAX_REQUESTS = 1_000_000_000;
const MAX_TOKENS = 1_000_000_000_000;

function most(largest: number, about: string) {
  return z.number().int().min(1).max(largest).nullable().describe(`${about}; null for any number`);
}

export const LimitFields = {
  max_concurrent: most(MAX_CONCURRENT, 'How many of its calls may be open at once'),
  requests_per_minute: most(MAX_REQUESTS, 'How many of its calls may begin in a minute'),
  tokens_per_minute: most(MAX_TOKENS, 'How many tokens its calls may use in a minute'),
} as const;

export const UseBody = z
  .object({
    concurrent: z
      .number()
      .int()
      .describe('Open calls, and up to a fiftieth of the limit that a process keeps to spare'),
    requests: z.number().int().describe('Of the limit a minute: taken, and not flowed back'),
    tokens: z.number().int(),
  })
  .openapi('LimitUse');

export type Use = z.infer<typeof UseBody>;

const NO_USE: Use = { concurrent: 0, requests: 0, tokens: 0 };

export function formatLimit(columns: LimitColumns) {
  return {
    max_concurrent: columns.maxConcurrent,
    requests_per_minute: columns.requestsPerMinute,
    tokens_per_minute: columns.tokensPerMinute,
  };
}

/** Null where the supervisor did not answer. */
export function readUse(uses: readonly LimitUse[] | null, subject: string): Use | null {
  if (uses === null) return null;
  const use = uses.find((each) => each.subject === subject);
  return use === undefined ? NO_USE : formatUse(use);
}

export function formatUse({ slots, requests, tokens }: LimitUse): Use {
  return { concurrent: slots, requests, tokens };
}
