/** The difference of two amounts as decimal text, to the last digit. */
import { formatUsd, parseUsd } from '../../../src/vocabulary/usd.ts';

/** Null where one of them is not known: what it would be is not known either. */
export function subtractUsd(amount: string | null, less: string | null): string | null {
  return amount === null || less === null ? null : formatUsd(parseUsd(amount) - parseUsd(less));
}
