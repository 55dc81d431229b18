/** Reports in the providers' documented shapes, read from files as they would be exported. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatUsd } from '../../../vocabulary/usd.ts';
import { collectReport, type Report } from './collect-report.ts';
import type { ReportProvider } from './provider-report.ts';

const REPORTS = new URL('../../../../test/support/reports/', import.meta.url);

function textOf(name: string): string {
  return readFileSync(new URL(name, REPORTS), 'utf8');
}

function collect(provider: ReportProvider, ...texts: string[]): Report {
  return collectReport(
    provider,
    texts.map((text, index) => ({ name: `file ${index + 1}`, text })),
  );
}

function show({ lines }: Report): string[] {
  return lines.map(({ day, subject, cost, tokens, requests }) => {
    const name = subject.type === 'all' ? 'all' : `${subject.type} ${subject.name}`;
    const money = cost === null ? [] : [`$${formatUsd(cost)}`];
    const counts =
      tokens === null ? [] : [`${tokens.input}+${tokens.cacheRead}+${tokens.cacheCreation}→${tokens.output}`];
    return [day, name, ...money, ...counts, ...(requests === null ? [] : [`×${requests}`])].join(' ');
  });
}

test('costs of OpenAI: numbers and texts, exact, by line item; empty days count', () => {
  const report = collect('openai', textOf('openai-costs.json'));
  expect(show(report)).toEqual([
    '2026-11-25 model gpt-4o-mini-2024-07-18 $0.45',
    '2026-11-25 model gpt-4o-mini-2024-07-18 $0',
    '2026-11-25 model gpt-4o-mini-2024-07-18 $0.06',
    '2026-11-25 model gpt-5.4 $0.015',
    '2026-11-25 model gpt-image-1 $0.04',
    '2026-11-25 item web search tool calls $0.03',
  ]);
  expect(report.days).toEqual({ cost: ['2026-11-25', '2026-11-26'], usage: [] });
  expect(report.notices).toEqual([]);
});

test('a number is read as it is written, where a float would have lost its end', () => {
  const text = textOf('openai-costs-ungrouped.json').replace('0.06', '90071992547409.930000000001');
  expect(show(collect('openai', text))).toEqual(['2026-11-25 all $90071992547409.930000000001']);
});

test('usage of OpenAI: cached and written tokens are taken out of the input', () => {
  const report = collect('openai', textOf('openai-usage-completions.json'), textOf('openai-usage-embeddings.json'));
  expect(show(report)).toEqual([
    '2026-11-25 model gpt-4o-mini-2024-07-18 2000000+800000+200000→100000 ×50',
    '2026-11-25 model gpt-4o-audio-preview-2024-12-17 ×1',
    '2026-11-25 model text-embedding-3-small 1600+0+0→0 ×2',
  ]);
  expect(report.endpoints).toEqual(['usage/completions', 'usage/embeddings']);
  expect(report.notices).toEqual([
    'Tokens of sound and pictures are reported: the gateway sums them apart, so the tokens of these models are not compared (their costs are).',
  ]);
});

test('costs of Anthropic are cents; a fee without a model keeps its description', () => {
  const report = collect('anthropic', textOf('anthropic-cost-report.json'));
  expect(show(report)).toEqual([
    '2026-11-25 model claude-sonnet-4-5-20250929 $1.2378912',
    '2026-11-25 model claude-sonnet-4-5-20250929 $0.4125',
    '2026-11-25 item Web Search Usage $0.1',
  ]);
  expect(report.days.cost).toEqual(['2026-11-25', '2026-11-26']);
});

test('usage of Anthropic: both lifetimes of the cache are one class; a missing last page is named', () => {
  const report = collect('anthropic', textOf('anthropic-usage-report.json'));
  expect(show(report)).toEqual(['2026-11-25 model claude-sonnet-4-5-20250929 1500+200+1500→500']);
  expect(report.notices).toEqual([
    'The report usage_report/messages goes on after its last page (has_more): fetch the next with page=<next_page>.',
  ]);
});

test('the newer cost analytics of Anthropic are read as well', () => {
  const report = collect('anthropic', textOf('anthropic-analytics-cost.json'));
  expect(show(report)).toEqual([
    '2026-11-25 model claude-sonnet-4-5-20250929 $1.6503912',
    '2026-11-25 model claude-haiku-4-5-20251001 $0.07',
  ]);
});

test('a report that is not grouped says what to ask for', () => {
  const report = collect('openai', textOf('openai-costs-ungrouped.json'));
  expect(show(report)).toEqual(['2026-11-25 all $0.06']);
  expect(report.notices).toEqual([
    'The costs report is not grouped by line item, so its days can only be compared as a whole: fetch it with group_by=line_item.',
  ]);
});

test('pages come one by one, in a list, as lines, or as single buckets', () => {
  const page = JSON.stringify(JSON.parse(textOf('openai-usage-embeddings.json')));
  const bucket = JSON.stringify(JSON.parse(page).data[0]);
  for (const text of [page, `[${page}]`, `\uFEFF${page}\n`, `${bucket}\n`, `[${bucket}]`])
    expect(show(collect('openai', text))).toEqual(['2026-11-25 model text-embedding-3-small 1600+0+0→0 ×2']);
  const next = page.replaceAll('1795564800', '1795651200').replaceAll('"end_time":1795651200', '"end_time":1795737600');
  expect(collect('openai', `${page}\n\n${next}\n`).days.usage).toEqual(['2026-11-25', '2026-11-26']);
});

test('the same file given twice counts once', () => {
  const text = textOf('anthropic-cost-report.json');
  const twice = collect('anthropic', text, `${text}\n`);
  expect(show(twice)).toHaveLength(3);
  expect(twice.notices).toEqual(['The same file was given more than once, and counts once.']);
  const again = collect('anthropic', text, text.replace('"next_page": null', '"next_page": "page_1"'));
  expect(show(again)).toHaveLength(3);
  expect(again.notices).toEqual(['2026-11-25 of cost_report was given more than once, and counts once.']);
  expect(
    show(collect('anthropic', textOf('anthropic-analytics-cost.json'), textOf('anthropic-analytics-cost.json'))),
  ).toHaveLength(2);
});

test('one day in two different versions is refused; of two projects it adds up', () => {
  const text = textOf('openai-costs-ungrouped.json');
  expect(() => collect('openai', text, text.replace('0.06', '0.07'))).toThrow(
    'the files report 2026-11-25 of costs twice and differently',
  );
  const first = text.replace('"project_id": null', '"project_id": "proj_a"');
  const second = text.replace('0.06', '0.07').replace('"project_id": null', '"project_id": "proj_b"');
  expect(show(collect('openai', first, second))).toEqual(['2026-11-25 all $0.06', '2026-11-25 all $0.07']);
});

test('hours of a day add up to the day; hours beside the whole day are refused', () => {
  const day = textOf('openai-usage-embeddings.json');
  const hour = (index: number) =>
    day
      .replace('"start_time": 1795564800', `"start_time": ${1795564800 + index * 3600}`)
      .replace('"end_time": 1795651200', `"end_time": ${1795564800 + (index + 1) * 3600}`);
  const whole = collect('openai', ...Array.from({ length: 24 }, (_, index) => hour(index)));
  expect([whole.days.usage, whole.partDays, whole.lines.length]).toEqual([['2026-11-25'], [], 24]);
  expect(collect('openai', hour(3)).partDays).toEqual(['2026-11-25']);
  expect(() => collect('openai', day, hour(3))).toThrow('buckets of usage/embeddings overlap on 2026-11-25');
});

test('days that lie between two pages and in none are named', () => {
  const text = textOf('openai-usage-embeddings.json');
  const later = text
    .replace('"end_time": 1795651200', '"end_time": 1795910400')
    .replace('"start_time": 1795564800', '"start_time": 1795824000');
  expect(collect('openai', text, later).notices).toEqual([
    'The usage report has no bucket for 2 of its days, the first is 2026-11-26; they are not compared.',
  ]);
});

test.each([
  ['', 'file 1: it is empty; a page of a report in JSON was expected'],
  ['{"object": "page", "data": [', 'file 1: it is not JSON; a page of a report was expected'],
  ['{"data":[]}\nnonsense', 'file 1: line 2 is not JSON; with several lines, each has to be a page'],
  [
    '{"error":{"message":"Missing scopes: api.usage.read"}}',
    'file 1: it is an error answer, not a report: Missing scopes',
  ],
  ['{"data":[]}', 'the report has no days in it'],
  ['{"usage": 5}', 'file 1: a page of organization/costs or organization/usage of OpenAI was expected, but at data'],
  [
    '{"data":[{"starting_at":"2026-11-25T00:00:00Z","ending_at":"2026-11-26T00:00:00Z","results":[]}]}',
    'file 1: it is a report of Anthropic; give it with --provider anthropic',
  ],
  [
    '{"data":[{"start_time":1795564800,"end_time":1796169600,"results":[]}]}',
    'a bucket of costs is longer than a day in UTC (2026-11-25T00:00:00.000Z on): fetch it with bucket_width=1d',
  ],
  [
    '{"data":[{"start_time":1795564800,"end_time":1795651200,"results":[{"amount":{"value":"a lot","currency":"usd"}}]}]}',
    'a result of organization/costs was expected, but at amount.value: an amount in dollars was expected',
  ],
  [
    '{"data":[{"start_time":1795564800,"end_time":1795651200,"results":[{"object":"something.else"}]}]}',
    'a result of organization/costs was expected, but at amount',
  ],
  [
    '{"data":[{"start_time":1795564800,"end_time":1795651200,"results":[{"amount":{"value":1,"currency":"eur"}}]}]}',
    'but at amount.currency: only US dollars can be compared',
  ],
])('a file that is no report is refused with what was expected: %j', (text, message) => {
  expect(() => collect('openai', text)).toThrow(message);
});

test('times that no bill has, and a document that is all brackets, are told and not fallen over', () => {
  const costs = (start: string) => `{"data":[{"start_time":${start},"end_time":1764201600,"results":[]}]}`;
  // In milliseconds, as other reports have them.
  for (const start of ['1764115200000', '99999999999999'])
    expect(() => collect('openai', costs(start))).toThrow('a time in seconds since 1970 was expected');
  const far = '{"data":[{"starting_at":"+275760-09-12T00:00:00Z","ending_at":"+275760-09-13T00:00:00Z","results":[]}]}';
  expect(() => collect('anthropic', far)).toThrow('an RFC 3339 time was expected');
  expect(() => collect('openai', '['.repeat(200_000) + ']'.repeat(200_000))).toThrow(
    'it is nested too deep for a report',
  );
});
