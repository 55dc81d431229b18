/**
 * The terms that a call is billed on: tier, speed and place as the answer reports them. What was asked for and is not
 * reported may or may not have been given, so it has no price.
 */
import type { HeaderTerms } from '../pricing/greatest/greatest-cost.ts';
import type { Provider } from '../providers/provider.ts';
import type { ReportedUsage, ServedTerms } from '../vocabulary/token-usage.ts';
import type { RequestedModel } from './call-context.ts';

/** Stands for a term that was asked for, and that the answer does not tell. */
const UNREPORTED_TERM = 'unreported';
/** To ask for these is to ask for nothing. */
const USUAL: readonly string[] = ['auto', 'default', 'standard', 'standard_only', 'global', 'not_available', ''];

export function readServedTerms(
  provider: Provider,
  requested: RequestedModel,
  askedByHeaders: HeaderTerms | null,
  reported: ReportedUsage | null,
  hasUsage: boolean,
): ServedTerms {
  const mayMark = provider.reportsTerms === true && hasUsage;
  const asked: Partial<RequestedModel> = mayMark ? requested : {};
  const byHeaders = mayMark ? askedByHeaders : null;
  const tierAsAsked = provider.isTierAsAsked === true ? (requested.serviceTier ?? null) : null;
  return {
    serviceTier: reported?.serviceTier ?? tierAsAsked ?? markOf(asked.serviceTier, byHeaders?.serviceTier),
    speed: reported?.speed ?? markOf(asked.speed, byHeaders?.speed),
    inferenceGeo: reported?.inferenceGeo ?? markOf(asked.inferenceGeo),
  };
}

function markOf(...asked: readonly (string | null | undefined)[]): string | null {
  return asked.some((term) => term != null && !USUAL.includes(term.toLowerCase())) ? UNREPORTED_TERM : null;
}
