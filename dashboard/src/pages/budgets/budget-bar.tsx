/** How much of a budget is spent and reserved, as a bar with the numbers beside it. */
import { parseUsd } from '../../../../src/vocabulary/usd.ts';
import type { BudgetUse } from '../../api/budgets.ts';
import { Money } from '../../components/amounts.tsx';

const FULL_PERCENT = 100;
const HIGH_PERCENT = 80;

function percentOf(part: string, whole: string): number {
  const limit = parseUsd(whole);
  if (limit === 0n) return 0;
  return Math.min(FULL_PERCENT, Number((parseUsd(part) * 1_000n) / limit) / 10);
}

export function BudgetBar({ use, name }: { readonly use: BudgetUse; readonly name: string }) {
  const spent = percentOf(use.spent_usd, use.limit_usd);
  const reserved = Math.min(FULL_PERCENT - spent, percentOf(use.reserved_usd, use.limit_usd));
  const tone = spent + reserved >= FULL_PERCENT ? 'bg-bad' : spent + reserved >= HIGH_PERCENT ? 'bg-warn' : 'bg-accent';
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex flex-wrap items-baseline gap-x-2 text-xs">
        <span className="min-w-0 truncate font-mono" title={name}>
          {name}
        </span>
        <span className="text-ink-soft">
          <Money value={use.spent_usd} /> spent
          {use.reserved_usd !== '0' && (
            <>
              , <Money value={use.reserved_usd} /> reserved
            </>
          )}
          {use.forecast_usd !== null && (
            <>
              ; about <Money value={use.forecast_usd} /> at its end, at this pace
            </>
          )}
        </span>
      </div>
      <div
        role="meter"
        aria-label={`Used by ${name}`}
        aria-valuemin={0}
        aria-valuemax={FULL_PERCENT}
        aria-valuenow={Math.round(spent + reserved)}
        className="flex h-2 overflow-hidden rounded-full bg-raised"
      >
        <span className={`block h-full ${tone}`} style={{ width: `${spent}%` }} />
        <span className={`block h-full opacity-50 ${tone}`} style={{ width: `${reserved}%` }} />
      </div>
    </div>
  );
}
