/** What a provider's report says, read down to one model for both providers and both kinds. Types only. */
import type { PicoUsd } from '../usd.ts';

export const REPORT_PROVIDERS = ['openai', 'anthropic'] as const;
export type ReportProvider = (typeof REPORT_PROVIDERS)[number];

export type ReportKind = 'cost' | 'usage';

/** What a line is about. */
export type Subject =
  | { readonly type: 'model'; readonly name: string }
  /** Billed, but for no model: a tool call, storage, a line that no declared rule reads. */
  | { readonly type: 'item'; readonly name: string }
  /** The report does not tell models apart. */
  | { readonly type: 'all' };

/** Tokens as the gateway sums them: disjoint; `input` is what was neither read from a cache nor written to one. */
export interface TokenCounts {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheCreation: number;
  readonly output: number;
}

export const TOKEN_CLASSES = ['input', 'cacheRead', 'cacheCreation', 'output'] as const;
export type TokenClass = (typeof TOKEN_CLASSES)[number];

export interface ReportedLine {
  /** `2026-11-26`, a day in UTC: both providers cut days there. */
  readonly day: string;
  readonly subject: Subject;
  /** Null in a usage report. */
  readonly cost: PicoUsd | null;
  /** Null where the report counts something else, or counts what the gateway's sums keep apart. */
  readonly tokens: TokenCounts | null;
  /** Null when the report does not say. */
  readonly requests: number | null;
}

/** One bucket of time, as one page had it. */
export interface ReportedBucket {
  readonly kind: ReportKind;
  /** The endpoint that answers so, e.g. `usage/completions`: the buckets of one endpoint may not overlap. */
  readonly endpoint: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Projects or workspaces, where the report tells them apart. */
  readonly scopes: readonly string[];
  readonly lines: readonly ReportedLine[];
  /** Several buckets of the same time are parts of one answer. */
  readonly isPart?: true;
}

export interface ReportedPage {
  readonly buckets: readonly ReportedBucket[];
  readonly hasMore: boolean;
  /** What the reader should know, e.g. how to fetch a report that can be compared better. */
  readonly notices: readonly string[];
}

/** The text is no report that can be read; the message says what was expected. */
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

/** Both days included. */
export function listDays(first: string, last: string): readonly string[] {
  const days: string[] = [];
  for (let atMs = dayStartMs(first); atMs <= dayStartMs(last); atMs += DAY_MS) days.push(dayOf(atMs));
  return days;
}

export function nextDay(day: string): string {
  return dayOf(dayStartMs(day) + DAY_MS);
}
