/** How much of a budget is spent and reserved, as a bar with the numbers beside it. */
import { parseUsd } from '../../../../src/vocabulary/usd.ts';
import type { BudgetUse } from '../../api/budgets.ts';
import { Money } from '../../components/amounts.tsx';

const FULL_PERCENT = 100;
const HIGH_PERCENT = 80;

function percentOf(part: string, whole: string): number {
  const limit = parseUsd(whole);
  if (limit === 0n) return 0;
  return Number((parseUsd(part) * 1_000n) / limit) / 10;
}

export function BudgetBar({ use, name }: { readonly use: BudgetUse; readonly name: string }) {
  const used = percentOf(use.spent_usd, use.limit_usd) + percentOf(use.reserved_usd, use.limit_usd);
  // A budget that only marks may be passed; its bar is full then.
  const spent = Math.min(FULL_PERCENT, percentOf(use.spent_usd, use.limit_usd));
  const reserved = Math.min(FULL_PERCENT, used) - spent;
  const tone = used >= FULL_PERCENT ? 'bg-bad' : used >= HIGH_PERCENT ? 'bg-warn' : 'bg-accent';
  const forecast = use.forecast_usd === null ? null : percentOf(use.forecast_usd, use.limit_usd);
  const isTooMuch = forecast !== null && forecast > FULL_PERCENT;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex flex-wrap items-baseline gap-x-3 text-xs">
        <span className="min-w-0 flex-1 basis-full truncate font-mono sm:basis-0" title={name}>
          {name}
        </span>
        <span className="flex-1 text-ink-soft sm:flex-none">
          <Money value={use.spent_usd} className="font-medium text-ink" /> spent of <Money value={use.limit_usd} />
        </span>
        <span className="num w-12 text-right">{Math.floor(used)} %</span>
      </div>
      <div className="relative">
        <div
          role="meter"
          aria-label={`Used by ${name}`}
          aria-valuemin={0}
          aria-valuemax={FULL_PERCENT}
          aria-valuenow={Math.min(FULL_PERCENT, Math.round(used))}
          className="flex h-2 overflow-hidden rounded-full bg-raised"
        >
          <span className={`block h-full ${tone}`} style={{ width: `${spent}%` }} />
          <span className={`block h-full opacity-50 ${tone}`} style={{ width: `${reserved}%` }} />
        </div>
        {forecast !== null && (
          <span
            aria-hidden
            className="absolute -top-0.5 h-3 w-0.5 -translate-x-full bg-ink"
            style={{ left: `${Math.min(FULL_PERCENT, forecast)}%` }}
          />
        )}
      </div>
      {(use.reserved_usd !== '0' || use.forecast_usd !== null) && (
        <p className="flex flex-wrap gap-x-3 text-xs text-ink-soft">
          {use.reserved_usd !== '0' && (
            <span>
              <Money value={use.reserved_usd} /> reserved
            </span>
          )}
          {use.forecast_usd !== null && (
            <span className={isTooMuch ? 'font-medium text-bad' : ''}>
              {isTooMuch ? 'Too much: about ' : 'About '}
              <Money value={use.forecast_usd} /> at the end of the period, at this pace
            </span>
          )}
        </p>
      )}
    </div>
  );
}
