/**
 * The terms that a call is billed on: tier, speed and place as the answer reports them. What was asked for and is not
 * reported may or may not have been given, so it has no price.
 */
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
  reported: ReportedUsage | null,
  hasUsage: boolean,
): ServedTerms {
  const asked: Partial<RequestedModel> = provider.reportsTerms === true && hasUsage ? requested : {};
  const tierAsAsked = provider.isTierAsAsked === true ? (requested.serviceTier ?? null) : null;
  return {
    serviceTier: reported?.serviceTier ?? tierAsAsked ?? markOf(asked.serviceTier),
    speed: reported?.speed ?? markOf(asked.speed),
    inferenceGeo: reported?.inferenceGeo ?? markOf(asked.inferenceGeo),
  };
}

function markOf(asked: string | undefined): string | null {
  return asked === undefined || USUAL.includes(asked.toLowerCase()) ? null : UNREPORTED_TERM;
}
