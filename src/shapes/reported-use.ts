/**
 * What of a finished reading is counted for its call: usage that another call is billed for is left out, and what the
 * request sent stands in where the answer reports nothing. No bytes, no prices.
 */
import {
  hasFinalUsage,
  hasUnreadPart,
  isWholeResult,
  type TokenUsage,
  type UsageReading,
  type UsageSource,
} from '../token-usage.ts';

export interface AnswerCircumstances {
  /** As in `Endpoint`: the call fetches what an earlier one asked for. */
  readonly fetchesResult: boolean;
  /** What it fetches is there only once it is finished: the path says whose results they are. */
  readonly isFinishedByPath?: boolean;
  readonly contentType?: string | null;
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
  /** A result was fetched and not read: it may be the one that carries the usage, and nobody knows. */
  readonly isUnread: boolean;
}

/** The part of a body that a `Range` asked for. */
const PARTIAL_CONTENT = 206;
const NO_CONTENT = 204;
/** A file that was made, such as a film: its usage stands where it was asked for, and never in itself. */
const MEDIA = /^\s*(?:audio|font|image|video)\//i;

export function readReportedUse(reading: UsageReading | null, circumstances: AnswerCircumstances): ReportedUse {
  const { fetchesResult, status, isComplete } = circumstances;
  const result = reading?.laterResult ?? null;
  // A part of a result is not it: whoever wants the rest fetches it again, whole. Nor is one of which a part was not
  // read, which would keep that other from being counted.
  const isFinal = isWholeResult(reading, fetchesResult) && status !== PARTIAL_CONTENT;
  // Fetching something whose usage is billed elsewhere, or not known yet, uses nothing.
  const isUsed = !fetchesResult || isFinal;
  const isWhole = isComplete && status !== null && status < 300;
  const isSilent = isWhole && reading?.error == null && saysNothing(reading?.usage ?? null, circumstances.sentUsage);
  const sentUsage = isSilent && hasClasses(circumstances.sentUsage) ? circumstances.sentUsage : null;
  return {
    usage: sentUsage ?? (isUsed ? withPictures(reading?.usage ?? null, circumstances.sentUsage) : null),
    usageSource: sentUsage !== null ? 'request' : isUsed ? usageSourceOf(reading) : 'none',
    billedOnceAs: isFinal && result !== null && reading?.usage != null ? result.id : null,
    isLater: !fetchesResult && result?.isFinal === false,
    isUnread: fetchesResult && !(isFinal && reading?.usage != null) && isUnread(reading, circumstances, isFinal),
  };
}

/**
 * Whatever kept it from being read: its size, its coding, its type, a cut. Of an answer that was read and is not
 * finished, or of one that reports no usage, it is known that nothing is to be counted.
 */
function isUnread(
  reading: UsageReading | null,
  { status, isFinishedByPath, contentType }: AnswerCircumstances,
  isFinal: boolean,
): boolean {
  if (status === null || status < 200 || status >= 300 || status === NO_CONTENT) return false;
  if (MEDIA.test(contentType ?? '')) return false;
  if (reading?.terminal !== true || status === PARTIAL_CONTENT) return true;
  return (isFinishedByPath === true && !isFinal) || hasUnreadPart(reading);
}

/** Tokens of a reranker's answer are not what it is billed by. */
function saysNothing(usage: TokenUsage | null, sent: TokenUsage | null): boolean {
  return usage === null || (sent?.classes.rerank_queries !== undefined && usage.classes.rerank_queries === undefined);
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
