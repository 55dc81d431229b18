/** What a comparison of a report with the log comes to: rows, how they are judged, and the totals. Types only. */
import type { PicoUsd } from '../usd.ts';
import type { TokenCounts } from './provider-report.ts';

/** What the log says of one model on one day in UTC. */
export interface LoggedRow {
  readonly day: string;
  /** The served model, else the requested one; null when neither is known. `rest`: so many models that are not told apart. */
  readonly model: string | null | { readonly rest: number };
  readonly calls: number;
  readonly errors: number;
  /** Calls without a total: not priced, or ended before their usage was reported. */
  readonly unpriced: number;
  /** What is known of it. */
  readonly cost: PicoUsd;
  readonly tokens: TokenCounts;
}

const ROW_STATUSES = [
  /** The same, but for the rounding of the report's lines. */
  'agrees',
  /** Apart by no more than the tolerance that was asked for. */
  'within_tolerance',
  /** The fee is billed without a model and logged with one: the day agrees as a whole. */
  'agrees_by_day',
  'drift',
  /** Billed, but no call of it is in the log. */
  'not_logged',
  /** Logged with a cost, but not billed. */
  'not_billed',
  /** Billed more than is known here, where calls have no known cost. */
  'unpriced_here',
  /** Billed without a model that could be compared. */
  'no_model',
] as const;
export type RowStatus = (typeof ROW_STATUSES)[number];

const GOOD: readonly RowStatus[] = ['agrees', 'within_tolerance', 'agrees_by_day'];

export function isGood(status: RowStatus): boolean {
  return GOOD.includes(status);
}

interface ComparedRow {
  readonly day: string;
  /** As the report writes it; null for a report that tells no models apart. */
  readonly name: string | null;
  /** Names in the log that a declared rule takes for the same model. */
  readonly loggedAs: readonly string[];
  readonly calls: number;
  readonly errors: number;
  readonly unpriced: number;
  /** By the usage report. */
  readonly requests: number | null;
  readonly status: RowStatus;
  /** The day is not over, or the report covers only a part of it: it says nothing yet. */
  readonly isOpen: boolean;
}

export interface CostRow extends ComparedRow {
  /** Null: no line of the report. */
  readonly billed: PicoUsd | null;
  /** Null: no call in the log. */
  readonly logged: PicoUsd | null;
  /** Billed less logged: positive is money that the log does not know of. */
  readonly drift: PicoUsd;
  /** So much of it can be the rounding of the report's lines. */
  readonly rounding: PicoUsd;
}

export interface TokenRow extends ComparedRow {
  readonly billed: TokenCounts | null;
  readonly logged: TokenCounts | null;
  readonly drift: TokenCounts;
  /** What it is worth, estimated at standard rates; null where nobody asked, or no rate is known. */
  readonly driftCost: PicoUsd | null;
}

export interface Comparison {
  readonly costs: readonly CostRow[];
  readonly tokens: readonly TokenRow[];
  readonly notices: readonly string[];
}

/** How far apart is still the same. */
export type Tolerance =
  | { readonly type: 'amount'; readonly amount: PicoUsd }
  /** Of what was billed; in millionths. */
  | { readonly type: 'share'; readonly millionths: bigint };
