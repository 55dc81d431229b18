/**
 * What of a finished reading is counted for its call: usage that another call is billed for is left out, and what the
 * request sent stands in where the answer reports nothing. No bytes, no prices.
 */
import { hasFinalUsage, type TokenUsage, type UsageReading, type UsageSource } from '../token-usage.ts';

export interface AnswerCircumstances {
  /** As in `Endpoint`: the call fetches what an earlier one asked for. */
  readonly fetchesResult: boolean;
  /** Null when no answer was sent. */
  readonly status: number | null;
  /** The provider's answer came to its end. */
  readonly isComplete: boolean;
  /** What was sent, where the endpoint is billed by that. */
  readonly sentUsage: TokenUsage | null;
}

export interface ReportedUse {
  readonly usage: TokenUsage | null;
  readonly usageSource: UsageSource;
  /** The provider's id of the result, where this call is the one that carries its usage; null for all other calls. */
  readonly billedOnceAs: string | null;
  /** What was asked for is made later. */
  readonly isLater: boolean;
}

/** The part of a body that a `Range` asked for. */
const PARTIAL_CONTENT = 206;

export function readReportedUse(reading: UsageReading | null, circumstances: AnswerCircumstances): ReportedUse {
  const { fetchesResult, status, isComplete } = circumstances;
  const result = reading?.laterResult ?? null;
  // A part of a result is not it: whoever wants the rest fetches it again, whole.
  const isFinal = result?.isFinal === true && reading?.terminal === true && status !== PARTIAL_CONTENT;
  // Fetching something whose usage is billed elsewhere, or not known yet, uses nothing.
  const isUsed = !fetchesResult || isFinal;
  const isWhole = isComplete && status !== null && status < 300;
  const isSilent = isWhole && reading?.usage == null && reading?.error == null;
  const sentUsage = isSilent && hasClasses(circumstances.sentUsage) ? circumstances.sentUsage : null;
  return {
    usage: sentUsage ?? (isUsed ? withPictures(reading?.usage ?? null, circumstances.sentUsage) : null),
    usageSource: sentUsage !== null ? 'request' : isUsed ? usageSourceOf(reading) : 'none',
    billedOnceAs: isFinal && result !== null && reading?.usage != null ? result.id : null,
    isLater: !fetchesResult && result?.isFinal === false,
  };
}

function hasClasses(usage: TokenUsage | null): boolean {
  return usage !== null && Object.keys(usage.classes).length > 0;
}

/** The answer says how many there are; only the request says how they were asked for. */
function withPictures(usage: TokenUsage | null, sent: TokenUsage | null): TokenUsage | null {
  if (usage?.classes.output_images === undefined || sent?.pictures === undefined) return usage;
  return { ...usage, pictures: sent.pictures };
}

/**
 * Only the answer's own ending makes usage final: a stream may stop short of it, after an error event for one, while
 * its HTTP message ends well.
 */
function usageSourceOf(reading: UsageReading | null): UsageSource {
  if (reading === null || reading.usage === null) return 'none';
  return hasFinalUsage(reading) ? 'provider' : 'partial';
}
