/** OpenAI's organization costs and usage (developers.openai.com, Admin API → Usage, 2026-11-28). */
import { z } from 'zod';
import { readLineItem } from './openai-line-item.ts';
import {
  dayOf,
  type ReportedBucket,
  type ReportedLine,
  type ReportedPage,
  type Subject,
  type TokenCounts,
  withEmptyDays,
} from './provider-report.ts';
import { DollarAmount, OptionalCount, OptionalText, Paging, readShape, Seconds } from './report-fields.ts';

const Bucket = z.object({ start_time: Seconds, end_time: Seconds, results: z.array(z.unknown()) });
const Page = z.object({ data: z.array(Bucket), ...Paging });
const Result = z.object({ object: OptionalText, amount: z.unknown().optional(), project_id: OptionalText });

/** `GET /v1/organization/costs`. */
const CostResult = z.object({ amount: DollarAmount, line_item: OptionalText });

/** `GET /v1/organization/usage/…`. Embeddings and moderations have only `input_tokens`, others no tokens. */
const UsageResult = z.object({
  model: OptionalText,
  num_model_requests: OptionalCount,
  /** Includes cached and cache-write tokens. */
  input_tokens: OptionalCount,
  input_cached_tokens: OptionalCount,
  input_cache_write_tokens: OptionalCount,
  output_tokens: OptionalCount,
  input_audio_tokens: OptionalCount,
  output_audio_tokens: OptionalCount,
  input_image_tokens: OptionalCount,
  output_image_tokens: OptionalCount,
});

const USAGE_OBJECT = /^organization\.usage\.([a-z_]+)\.result$/;
const COST_GROUPING =
  'The costs report is not grouped by line item, so its days can only be compared as a whole: fetch it with group_by=line_item.';
const USAGE_GROUPING =
  'The usage report is not grouped by model, so its days can only be compared as a whole: fetch it with group_by=model.';
const OTHER_MODALITIES =
  'Tokens of sound and pictures are reported: the gateway sums them apart, so the tokens of these models are not compared (their costs are).';

function readCostLine(result: unknown, day: string): ReportedLine {
  const { amount, line_item } = readShape(CostResult, result, 'a result of organization/costs');
  const subject: Subject = line_item === null ? { type: 'all' } : readLineItem(line_item);
  return { day, subject, cost: amount.value, tokens: null, requests: null };
}

function countTokens(usage: z.infer<typeof UsageResult>): TokenCounts | 'other modalities' | null {
  if (usage.input_tokens === null) return null;
  const others = [
    usage.input_audio_tokens,
    usage.output_audio_tokens,
    usage.input_image_tokens,
    usage.output_image_tokens,
  ];
  if (others.some((count) => (count ?? 0) > 0)) return 'other modalities';
  const cacheRead = usage.input_cached_tokens ?? 0;
  const cacheCreation = usage.input_cache_write_tokens ?? 0;
  const input = Math.max(0, usage.input_tokens - cacheRead - cacheCreation);
  return { input, cacheRead, cacheCreation, output: usage.output_tokens ?? 0 };
}

/** OpenAI's usage of tools and storage has neither model nor tokens, so it cannot be compared. */
function readUsageLine(result: unknown, day: string, notices: Set<string>): ReportedLine | null {
  const usage = readShape(UsageResult, result, 'a result of organization/usage');
  if (usage.num_model_requests === null && usage.input_tokens === null) return null;
  if (usage.model === null) notices.add(USAGE_GROUPING);
  const subject: Subject = usage.model === null ? { type: 'all' } : { type: 'model', name: usage.model };
  const tokens = countTokens(usage);
  if (tokens === 'other modalities') notices.add(OTHER_MODALITIES);
  return {
    day,
    subject,
    cost: null,
    requests: usage.num_model_requests,
    tokens: tokens === 'other modalities' ? null : tokens,
  };
}

function readBucket(bucket: z.infer<typeof Bucket>, notices: Set<string>): ReportedBucket[] {
  const time = { fromMs: bucket.start_time, toMs: bucket.end_time };
  const day = dayOf(time.fromMs);
  const costs: ReportedLine[] = [];
  const usage = new Map<string, ReportedLine[]>();
  const scopes = new Set<string>();
  for (const result of bucket.results) {
    const head = readShape(Result, result, 'a result of organization/costs or organization/usage');
    scopes.add(head.project_id ?? '');
    const family = USAGE_OBJECT.exec(head.object ?? '')?.[1];
    if (family === undefined || head.amount !== undefined) {
      const line = readCostLine(result, day);
      if (line.subject.type === 'all') notices.add(COST_GROUPING);
      costs.push(line);
      continue;
    }
    const line = readUsageLine(result, day, notices);
    usage.set(family, [...(usage.get(family) ?? []), ...(line === null ? [] : [line])]);
  }
  const shared = { ...time, scopes: [...scopes] };
  return [
    ...(costs.length > 0 ? [{ kind: 'cost', endpoint: 'costs', ...shared, lines: costs } as const] : []),
    ...[...usage].map(([family, lines]) => ({ kind: 'usage', endpoint: `usage/${family}`, ...shared, lines }) as const),
  ];
}

export function readOpenAiPage(value: unknown): ReportedPage {
  const page = readShape(Page, value, 'a page of organization/costs or organization/usage of OpenAI');
  const notices = new Set<string>();
  const read = page.data.map((bucket) => ({
    time: { fromMs: bucket.start_time, toMs: bucket.end_time },
    buckets: readBucket(bucket, notices),
  }));
  const empty = read.filter(({ buckets }) => buckets.length === 0).map(({ time }) => time);
  const buckets = withEmptyDays(
    read.flatMap((entry) => entry.buckets),
    empty,
    'costs',
    notices,
  );
  return { buckets, hasMore: page.has_more, notices: [...notices] };
}
