/** The result of a comparison: rows, their status, totals. Types only. */
import type { PicoUsd } from '../../../vocabulary/usd.ts';
import type { TokenCounts } from './provider-report.ts';

export interface LoggedRow {
  readonly day: string;
  /** The served model, else the requested one; null when unknown. `rest`: this many models in one row. */
  readonly model: string | null | { readonly rest: number };
  readonly calls: number;
  readonly errors: number;
  readonly unpriced: number;
  readonly cost: PicoUsd;
  readonly tokens: TokenCounts;
}

const ROW_STATUSES = [
  /** Equal up to the report's rounding. */
  'agrees',
  'within_tolerance',
  /** A fee is billed without a model and logged with one: the day agrees. */
  'agrees_by_day',
  'drift',
  'not_logged',
  'not_billed',
  /** Billed more than logged, where some calls have no known cost. */
  'unpriced_here',
  'no_model',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

const GOOD: readonly RowStatus[] = ['agrees', 'within_tolerance', 'agrees_by_day'];

export function isGood(status: RowStatus): boolean {
  return GOOD.includes(status);
}

interface ComparedRow {
  readonly day: string;
  readonly name: string | null;
  /** Log names of the same model by a declared rule. */
  readonly loggedAs: readonly string[];
  readonly calls: number;
  readonly errors: number;
  readonly unpriced: number;
  readonly requests: number | null;
  readonly status: RowStatus;
  /** The day is unfinished or partly covered: no verdict yet. */
  readonly isOpen: boolean;
}

export interface CostRow extends ComparedRow {
  readonly billed: PicoUsd | null;
  readonly logged: PicoUsd | null;
  readonly drift: PicoUsd;
  /** The part that rounding may explain. */
  readonly rounding: PicoUsd;
}

export interface TokenRow extends ComparedRow {
  readonly billed: TokenCounts | null;
  readonly logged: TokenCounts | null;
  readonly drift: TokenCounts;
  /** Estimated at standard rates; null without an estimate. */
  readonly driftCost: PicoUsd | null;
}

export interface Comparison {
  readonly costs: readonly CostRow[];
  readonly tokens: readonly TokenRow[];
  readonly notices: readonly string[];
}

export type Tolerance =
  | { readonly type: 'amount'; readonly amount: PicoUsd }
  /** A share of the bill, in millionths. */
  | { readonly type: 'share'; readonly millionths: bigint };
