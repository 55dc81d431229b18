/** Decides which reported usage counts for a call, and where usage read from the request stands in. */
import {
  hasFinalUsage,
  hasUnreadPart,
  isWholeResult,
  type ReportedUsage,
  type TokenUsage,
  type UsageSource,
} from '../../vocabulary/token-usage.ts';

export interface AnswerCircumstances {
  /** As in `Endpoint`: the call fetches what an earlier one asked for. */
  readonly fetchesResult: boolean;
  /** The path says whose results they are, and results exist only once they are finished. */
  readonly isFinishedByPath?: boolean;
  readonly contentType?: string | null;
  readonly status: number | null;
  readonly isComplete: boolean;
  /** Usage read from the request, where the endpoint is billed by it. */
  readonly sentUsage: TokenUsage | null;
}

export interface BilledUsage {
  readonly usage: TokenUsage | null;
  readonly usageSource: UsageSource;
  /** The provider's id of the result when this call carries its usage, otherwise null. */
  readonly billedOnceAs: string | null;
  readonly isLater: boolean;
  /** The provider's id of the result that a later call fetches; null where it is not made later, or has none. */
  readonly billedLaterAs: string | null;
  /** A result was fetched and not read, so it may carry usage. */
  readonly isUnread: boolean;
}

const PARTIAL_CONTENT = 206;
const NO_CONTENT = 204;
/** The usage of a made file stands where it was asked for, never in the file. */
const MEDIA = /^\s*(?:audio|font|image|video)\//i;

export function readBilledUsage(reported: ReportedUsage | null, circumstances: AnswerCircumstances): BilledUsage {
  const { fetchesResult, status, isComplete } = circumstances;
  const result = reported?.laterResult ?? null;
  // A partial result does not count: the client that wants the rest fetches it whole. Counting a result of which a part
  // was not read would keep the whole one from being counted.
  const isFinal = isWholeResult(reported, fetchesResult) && status !== PARTIAL_CONTENT;
  const isUsed = !fetchesResult || isFinal;
  const isWhole = isComplete && status !== null && status < 300;
  const isSilent = isWhole && reported?.error == null && saysNothing(reported?.usage ?? null, circumstances.sentUsage);
  const sentUsage = isSilent && hasClasses(circumstances.sentUsage) ? circumstances.sentUsage : null;
  return {
    usage: sentUsage ?? (isUsed ? withPictures(usageOf(reported), circumstances.sentUsage) : null),
    usageSource: sentUsage !== null ? 'request' : isUsed ? usageSourceOf(reported) : 'none',
    billedOnceAs: isFinal && result !== null && reported?.usage != null ? result.id : null,
    isLater: !fetchesResult && result?.isFinal === false,
    billedLaterAs: !fetchesResult && result?.isFinal === false ? result.id : null,
    isUnread: fetchesResult && !(isFinal && reported?.usage != null) && isUnread(reported, circumstances, isFinal),
  };
}

/** An answer that was read is known to add nothing where it is unfinished, or no work was done for it. */
function isUnread(
  reported: ReportedUsage | null,
  { status, isFinishedByPath, contentType }: AnswerCircumstances,
  isFinal: boolean,
): boolean {
  if (status === null || status < 200 || status >= 300 || status === NO_CONTENT) return false;
  if (MEDIA.test(contentType ?? '')) return false;
  if (reported?.terminal !== true || status === PARTIAL_CONTENT) return true;
  const isMissing = reported.laterResult?.lacksUsage === true;
  return (isFinishedByPath === true && !isFinal) || isMissing || hasUnreadPart(reported);
}

/** A part of the result may be missing in it. */
function usageOf(reported: ReportedUsage | null): TokenUsage | null {
  const usage = reported?.usage ?? null;
  return usage !== null && reported?.laterResult?.lacksUsage === true ? { ...usage, isIncomplete: true } : usage;
}

/** A reranker is not billed by its tokens. */
function saysNothing(usage: TokenUsage | null, sent: TokenUsage | null): boolean {
  return usage === null || (sent?.classes.rerank_queries !== undefined && usage.classes.rerank_queries === undefined);
}

function hasClasses(usage: TokenUsage | null): boolean {
  return usage !== null && Object.keys(usage.classes).length > 0;
}

/** The answer says how many pictures there are, and the request says in which size and quality. */
function withPictures(usage: TokenUsage | null, sent: TokenUsage | null): TokenUsage | null {
  if (usage?.classes.output_images === undefined || sent?.pictures === undefined) return usage;
  return { ...usage, pictures: sent.pictures };
}

/** Only the answer's own ending makes usage final: a stream may stop early while its HTTP message ends well. */
function usageSourceOf(reported: ReportedUsage | null): UsageSource {
  if (reported === null || reported.usage === null) return 'none';
  return hasFinalUsage(reported) ? 'provider' : 'partial';
}
