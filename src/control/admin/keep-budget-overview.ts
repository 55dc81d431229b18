/** The overview for metrics: many scrapes are one look at the database a minute. */
import type pg from 'pg';
import { type BudgetOverview, readBudgetOverview } from '../budgets/budget-overview.ts';
import { withinLimit } from './database-answer.ts';

const KEPT_MS = 60_000;

/** Answers null while the database does not answer. */
export function keepBudgetOverview(
  database: () => pg.Pool | null,
  nowMs: () => number,
): () => Promise<BudgetOverview | null> {
  let kept: { readonly overview: BudgetOverview; readonly readMs: number } | null = null;
  return async () => {
    const pool = database();
    if (pool === null) return null;
    if (kept !== null && performance.now() - kept.readMs < KEPT_MS) return kept.overview;
    try {
      const overview = await withinLimit(readBudgetOverview(pool, nowMs()));
      kept = { overview, readMs: performance.now() };
      return overview;
    } catch {
      // Whether the database answers is said elsewhere.
      return null;
    }
  };
}
