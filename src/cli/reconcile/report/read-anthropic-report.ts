/** Anthropic's `usage_report/messages`, `cost_report`, `analytics/cost` (platform.claude.com, 2026-11-28). */
import { z } from 'zod';
import {
  dayOf,
  ReportError,
  type ReportedBucket,
  type ReportedLine,
  type ReportedPage,
  type Subject,
  withEmptyDays,
} from './provider-report.ts';
import { CentAmount, Instant, OptionalCount, OptionalText, Paging, readShape } from './report-fields.ts';

const Bucket = z.object({ starting_at: Instant, ending_at: Instant, results: z.array(z.unknown()) });
const Page = z.object({ data: z.array(z.unknown()), ...Paging });
const Head = z.object({ amount: z.unknown().optional(), workspace_id: OptionalText });

/** Amounts are cents. Without group_by[]=description all other fields are null. */
const CostResult = z.object({ ...CentAmount, model: OptionalText, description: OptionalText, cost_type: OptionalText });

const UsageResult = z.object({
  model: OptionalText,
  uncached_input_tokens: OptionalCount,
  cache_read_input_tokens: OptionalCount,
  cache_creation: z
    .object({ ephemeral_5m_input_tokens: OptionalCount, ephemeral_1h_input_tokens: OptionalCount })
    .nullish(),
  output_tokens: OptionalCount,
  service_tier: OptionalText,
});

/** `analytics/cost`: cents after discounts and before credits. */
const AnalyticsItem = z.object({
  starting_at: Instant,
  ending_at: Instant,
  cost: z.object(CentAmount),
  group: z.object({ model: OptionalText, cost_type: OptionalText, workspace_id: OptionalText }).nullish(),
});

const COST_GROUPING =
  'The cost report is not grouped, so its days can only be compared as a whole: fetch it with group_by[]=description.';
const USAGE_GROUPING =
  'The usage report is not grouped by model, so its days can only be compared as a whole: fetch it with group_by[]=model.';
const ANALYTICS_GROUPING =
  'The cost analytics are not grouped by model, so days can only be compared as a whole: fetch them with group_by[]=model and bucket_width=1d.';
const PRIORITY_TIER =
  'Some usage was served by the priority tier, whose cost is not in the cost report (it is bought in advance): these models look as if they were billed too little.';

/** A line with neither model nor description comes from an ungrouped report. */
function subjectOf(model: string | null, description: string | null): Subject {
  if (model !== null) return { type: 'model', name: model };
  return description === null ? { type: 'all' } : { type: 'item', name: description };
}

function readCostLine(result: unknown, day: string, notices: Set<string>): ReportedLine {
  const cost = readShape(CostResult, result, 'a result of cost_report');
  const subject = subjectOf(cost.model, cost.description ?? cost.cost_type);
  if (subject.type === 'all') notices.add(COST_GROUPING);
  return { day, subject, cost: cost.amount, tokens: null, requests: null };
}

function readUsageLine(result: unknown, day: string, notices: Set<string>): ReportedLine {
  const usage = readShape(UsageResult, result, 'a result of usage_report/messages');
  if (usage.uncached_input_tokens === null)
    throw new ReportError(
      'a result of usage_report/messages has uncached_input_tokens, one of cost_report amount; this one has neither',
    );
  if (usage.model === null) notices.add(USAGE_GROUPING);
  if (usage.service_tier?.startsWith('priority') === true) notices.add(PRIORITY_TIER);
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = usage.cache_creation ?? {};
  const tokens = {
    input: usage.uncached_input_tokens,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheCreation: (short ?? 0) + (long ?? 0),
    output: usage.output_tokens ?? 0,
  };
  return { day, subject: subjectOf(usage.model, null), cost: null, tokens, requests: null };
}

function readBucket(value: unknown, notices: Set<string>): ReportedBucket | { fromMs: number; toMs: number } {
  const bucket = readShape(Bucket, value, 'a bucket of cost_report or usage_report/messages of Anthropic');
  const time = { fromMs: bucket.starting_at, toMs: bucket.ending_at };
  const heads = bucket.results.map((result) => readShape(Head, result, 'a result of cost_report or usage_report'));
  if (heads.length === 0) return time;
  const isCost = heads.some(({ amount }) => amount !== undefined);
  const readLine = isCost ? readCostLine : readUsageLine;
  return {
    ...(isCost ? { kind: 'cost', endpoint: 'cost_report' } : { kind: 'usage', endpoint: 'usage_report/messages' }),
    ...time,
    scopes: [...new Set(heads.map((head) => head.workspace_id ?? ''))],
    lines: bucket.results.map((result) => readLine(result, dayOf(time.fromMs), notices)),
  };
}

function readAnalyticsItem(value: unknown, notices: Set<string>): ReportedBucket {
  const item = readShape(AnalyticsItem, value, 'a row of analytics/cost');
  const subject = subjectOf(item.group?.model ?? null, item.group?.cost_type ?? null);
  if (subject.type === 'all') notices.add(ANALYTICS_GROUPING);
  return {
    kind: 'cost',
    endpoint: 'analytics/cost',
    isPart: true,
    fromMs: item.starting_at,
    toMs: item.ending_at,
    scopes: [],
    lines: [{ day: dayOf(item.starting_at), subject, cost: item.cost.amount, tokens: null, requests: null }],
  };
}

function isAnalytics(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'cost' in value;
}

export function readAnthropicPage(value: unknown): ReportedPage {
  const page = readShape(Page, value, 'a page of cost_report or usage_report/messages of Anthropic');
  const notices = new Set<string>();
  const read = page.data.map((entry) =>
    isAnalytics(entry) ? readAnalyticsItem(entry, notices) : readBucket(entry, notices),
  );
  const buckets = read.filter((bucket) => 'kind' in bucket);
  const empty = read.filter((bucket) => !('kind' in bucket));
  return {
    buckets: withEmptyDays(buckets, empty, 'cost_report', notices),
    hasMore: page.has_more,
    notices: [...notices],
  };
}
