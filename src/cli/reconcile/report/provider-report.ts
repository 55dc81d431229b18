/** A provider's report in one model for both providers and both kinds. */
import type { PicoUsd } from '../../../vocabulary/usd.ts';

export const REPORT_PROVIDERS = ['openai', 'anthropic'] as const;
export type ReportProvider = (typeof REPORT_PROVIDERS)[number];

export type ReportKind = 'cost' | 'usage';

export type Subject =
  | { readonly type: 'model'; readonly name: string }
  /** Billed without a model: a tool call, storage, an unknown line. */
  | { readonly type: 'item'; readonly name: string }
  | { readonly type: 'all' };

/** Disjoint, as the gateway sums them; `input` is neither read from nor written to a cache. */
export interface TokenCounts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheCreation: number;
  readonly output: number;
}

export const TOKEN_CLASSES = ['input', 'cacheRead', 'cacheCreation', 'output'] as const;
export type TokenClass = (typeof TOKEN_CLASSES)[number];

export interface ReportedLine {
  /** `2026-11-26`; both providers cut days in UTC. */
  readonly day: string;
  readonly subject: Subject;
  readonly cost: PicoUsd | null;
  /** Null where the report counts other things or merges the gateway's classes. */
  readonly tokens: TokenCounts | null;
  readonly requests: number | null;
}

/** A time bucket of one page. */
export interface ReportedBucket {
  readonly kind: ReportKind;
  /** E.g. `usage/completions`: the buckets of one endpoint may not overlap. */
  readonly endpoint: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Projects or workspaces, where the report separates them. */
  readonly scopes: readonly string[];
  readonly lines: readonly ReportedLine[];
  /** Buckets of the same time are parts of one answer. */
  readonly isPart?: true;
}

export interface ReportedPage {
  readonly buckets: readonly ReportedBucket[];
  readonly hasMore: boolean;
  /** Notices, e.g. how to fetch a report that compares better. */
  readonly notices: readonly string[];
}

/** The text is no readable report; the message says what was expected. */
export class ReportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ReportError';
  }
}

const DAY_MS = 86_400_000;

export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

export function dayStartMs(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

export function listDays(first: string, last: string): readonly string[] {
  const days: string[] = [];
  for (let atMs = dayStartMs(first); atMs <= dayStartMs(last); atMs += DAY_MS) days.push(dayOf(atMs));
  return days;
}

export function nextDay(day: string): string {
  return dayOf(dayStartMs(day) + DAY_MS);
}

/** Days without results count as reported, of the page's kind. */
export function withEmptyDays(
  buckets: readonly ReportedBucket[],
  empty: readonly Pick<ReportedBucket, 'fromMs' | 'toMs'>[],
  costEndpoint: string,
  notices: Set<string>,
): readonly ReportedBucket[] {
  const { kind, endpoint, isPart } = buckets[0] ?? { kind: 'cost' as const, endpoint: costEndpoint };
  if (buckets.length === 0 && empty.length > 0)
    notices.add('A page has no results at all; it is taken for costs of $0.');
  const shared = { kind, endpoint, scopes: [], lines: [], ...(isPart === true ? { isPart } : {}) };
  return [...buckets, ...empty.map(({ fromMs, toMs }) => ({ ...shared, fromMs, toMs }))];
}
