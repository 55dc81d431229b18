/** Combines a provider's pages into one report, nothing counted twice, and names partial days. */
import { parsePages } from './parse-pages.ts';
import {
  dayOf,
  dayStartMs,
  listDays,
  ReportError,
  type ReportedBucket,
  type ReportedLine,
  type ReportedPage,
  type ReportKind,
  type ReportProvider,
} from './provider-report.ts';
import { readAnthropicPage } from './read-anthropic-report.ts';
import { readOpenAiPage } from './read-openai-report.ts';

export interface ReportText {
  readonly name: string;
  readonly text: string;
}

export interface Report {
  readonly kinds: readonly ReportKind[];
  readonly endpoints: readonly string[];
  readonly lines: readonly ReportedLine[];
  /** Covered days of each kind, in order; a day without results counts as $0. */
  readonly days: Readonly<Record<ReportKind, readonly string[]>>;
  readonly partDays: readonly string[];
  readonly notices: readonly string[];
}

const DAY_MS = 86_400_000;
/** No report of either provider spans more than a year. */
const MAX_DAYS = 400;

const READERS: Readonly<Record<ReportProvider, (page: unknown) => ReportedPage>> = {
  openai: readOpenAiPage,
  anthropic: readAnthropicPage,
};
const NAMES: Readonly<Record<ReportProvider, string>> = { openai: 'OpenAI', anthropic: 'Anthropic' };

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A single bucket (`jq '.data[]'`) is a page of one. */
function asPage(value: unknown): unknown {
  if (!isObject(value)) return value;
  return 'results' in value || ('cost' in value && 'starting_at' in value) ? { data: [value] } : value;
}

function providerOf(page: unknown): ReportProvider | null {
  if (!isObject(page) || !Array.isArray(page['data'])) return null;
  const [bucket]: readonly unknown[] = page['data'];
  if (!isObject(bucket)) return null;
  if ('start_time' in bucket) return 'openai';
  return 'starting_at' in bucket ? 'anthropic' : null;
}

function readPage(provider: ReportProvider, value: unknown): ReportedPage {
  const page = asPage(value);
  if (isObject(page) && isObject(page['error'])) {
    const { message } = page['error'];
    throw new ReportError(`it is an error answer, not a report${typeof message === 'string' ? `: ${message}` : ''}`);
  }
  const found = providerOf(page);
  if (found !== null && found !== provider)
    throw new ReportError(`it is a report of ${NAMES[found]}; give it with --provider ${found}`);
  return READERS[provider](page);
}

function keyOf(bucket: ReportedBucket): string {
  return `${bucket.endpoint} ${bucket.fromMs} ${bucket.toMs}`;
}

function contentOf(bucket: ReportedBucket): string {
  return JSON.stringify(bucket.lines, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

function areOfOtherScopes(a: ReportedBucket, b: ReportedBucket): boolean {
  const known = [...a.scopes, ...b.scopes];
  return !known.includes('') && new Set(known).size === a.scopes.length + b.scopes.length;
}

/** Skips repeated buckets, adds buckets of other projects, and refuses everything else, which would count twice. */
function mergeBuckets(buckets: readonly ReportedBucket[], notices: Set<string>): ReportedBucket[] {
  const kept: ReportedBucket[] = [];
  const byKey = new Map<string, ReportedBucket[]>();
  for (const bucket of buckets) {
    if (bucket.isPart === true) {
      kept.push(bucket);
      continue;
    }
    const same = byKey.get(keyOf(bucket)) ?? [];
    if (same.some((other) => contentOf(other) === contentOf(bucket))) {
      if (bucket.lines.length > 0)
        notices.add(`${dayOf(bucket.fromMs)} of ${bucket.endpoint} was given more than once, and counts once.`);
      continue;
    }
    const doubled = same.some((other) => other.lines.length > 0 && !areOfOtherScopes(other, bucket));
    if (doubled && bucket.lines.length > 0)
      throw new ReportError(
        `the files report ${dayOf(bucket.fromMs)} of ${bucket.endpoint} twice and differently; together they would count it twice. Give one of them, or reports of different projects that are grouped by project`,
      );
    byKey.set(keyOf(bucket), [...same, bucket]);
    kept.push(bucket);
  }
  return kept;
}

/** Hours of a day that is also there as a whole would count twice. */
function checkOverlaps(buckets: readonly ReportedBucket[]): void {
  const sorted = buckets.toSorted((a, b) => a.fromMs - b.fromMs || b.toMs - a.toMs);
  const last = new Map<string, ReportedBucket>();
  for (const bucket of sorted) {
    const before = last.get(bucket.endpoint);
    if (before !== undefined && bucket.fromMs < before.toMs && keyOf(before) !== keyOf(bucket))
      throw new ReportError(
        `buckets of ${bucket.endpoint} overlap on ${dayOf(bucket.fromMs)}: give reports of one bucket width`,
      );
    last.set(bucket.endpoint, bucket);
  }
}

function checkWidth(bucket: ReportedBucket): void {
  if (bucket.toMs <= bucket.fromMs || bucket.toMs > dayStartMs(dayOf(bucket.fromMs)) + DAY_MS)
    throw new ReportError(
      `a bucket of ${bucket.endpoint} is longer than a day in UTC (${new Date(bucket.fromMs).toISOString()} on): fetch it with bucket_width=1d`,
    );
}

function coverageOf(buckets: readonly ReportedBucket[], kind: ReportKind): ReadonlyMap<string, number> {
  const seen = new Map<string, Set<string>>();
  const covered = new Map<string, number>();
  for (const bucket of buckets) {
    if (bucket.kind !== kind) continue;
    const day = dayOf(bucket.fromMs);
    const times = seen.get(day) ?? new Set<string>();
    const time = `${bucket.fromMs} ${bucket.toMs}`;
    if (!times.has(time)) covered.set(day, (covered.get(day) ?? 0) + bucket.toMs - bucket.fromMs);
    seen.set(day, times.add(time));
  }
  return covered;
}

function readTexts(provider: ReportProvider, texts: readonly ReportText[]): readonly ReportedPage[] {
  return texts.flatMap(({ name, text }) => {
    try {
      return parsePages(text).map((value) => readPage(provider, value));
    } catch (error) {
      throw error instanceof ReportError ? new ReportError(`${name}: ${error.message}`) : error;
    }
  });
}

function noticeGaps(days: readonly string[], kind: ReportKind, notices: Set<string>): void {
  const [first] = days;
  const last = days.at(-1);
  if (first === undefined || last === undefined) return;
  const missing = listDays(first, last).filter((day) => !days.includes(day));
  if (missing.length > 0)
    notices.add(
      `The ${kind} report has no bucket for ${missing.length} of its days, the first is ${missing[0]}; they are not compared.`,
    );
}

/** Every endpoint's last page says that it is the last. */
function noticeMissingPages(pages: readonly ReportedPage[], notices: Set<string>): void {
  const ended = new Map<string, boolean>();
  for (const { buckets, hasMore } of pages) {
    const endpoint = buckets[0]?.endpoint ?? '';
    ended.set(endpoint, !hasMore || ended.get(endpoint) === true);
  }
  for (const [endpoint, isEnded] of ended)
    if (!isEnded)
      notices.add(
        `The report ${endpoint} goes on after its last page (has_more): fetch the next with page=<next_page>.`,
      );
}

/** Throws a ReportError, which names the file at fault. */
export function collectReport(provider: ReportProvider, texts: readonly ReportText[]): Report {
  const once = [...new Map(texts.map((text) => [text.text.trim(), text])).values()];
  const pages = readTexts(provider, once);
  const notices = new Set(pages.flatMap((page) => page.notices));
  if (once.length < texts.length) notices.add('The same file was given more than once, and counts once.');
  const all = pages.flatMap(({ buckets }) => buckets);
  for (const bucket of all) checkWidth(bucket);
  const buckets = mergeBuckets(all, notices);
  checkOverlaps(buckets);
  const coverage = { cost: coverageOf(buckets, 'cost'), usage: coverageOf(buckets, 'usage') };
  const days = { cost: [...coverage.cost.keys()].sort(), usage: [...coverage.usage.keys()].sort() };
  const [first] = [...days.cost, ...days.usage].sort();
  const last = [...days.cost, ...days.usage].sort().at(-1);
  if (first === undefined || last === undefined) throw new ReportError('the report has no days in it');
  if (listDays(first, last).length > MAX_DAYS)
    throw new ReportError(`the report reaches over more than ${MAX_DAYS} days; give a shorter one`);
  for (const kind of ['cost', 'usage'] as const) noticeGaps(days[kind], kind, notices);
  noticeMissingPages(pages, notices);
  const partDays = [...coverage.cost, ...coverage.usage].filter(([, ms]) => ms < DAY_MS).map(([day]) => day);
  return {
    kinds: (['cost', 'usage'] as const).filter((kind) => days[kind].length > 0),
    endpoints: [...new Set(buckets.map(({ endpoint }) => endpoint))].sort(),
    lines: buckets.flatMap(({ lines }) => lines),
    days,
    partDays: [...new Set(partDays)].sort(),
    notices: [...notices],
  };
}
