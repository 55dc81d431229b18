/** The questions of the API, each with values that are drawn anew every time, alike for every size of the log. */
import type { SeededRandom } from '../../src/control/demo-log/seeded-random.ts';
import { HOUR_MS, LARGE_RUN, SEED_MODELS, TEAMS } from './plain-calls.ts';
import { RARE_WORD } from './texts.ts';

/** Values of calls that exist. */
export interface Sample {
  readonly id: string;
  readonly traceId: string;
  readonly requestTag: string;
}

export interface Draw {
  readonly random: SeededRandom;
  readonly sample: Sample;
  readonly untilMs: number;
}

export interface Question {
  readonly group: string;
  readonly name: string;
  readonly path: (draw: Draw) => string;
  /** Only the beginning of the answer counts. */
  readonly isStream?: true;
  /** Pages that are turned before the one that is measured. */
  readonly pagesBefore?: number;
}

type Parameters = Readonly<Record<string, string | readonly string[] | undefined>>;

function at(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [String(value)])
      query.append(name, one);
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

const DAY = 24;

function lastHours(draw: Draw, hours: number): { readonly from: string; readonly to: string } {
  return {
    from: new Date(draw.untilMs - hours * HOUR_MS).toISOString(),
    to: new Date(draw.untilMs).toISOString(),
  };
}

const frequentUser = ({ random }: Draw) => `u-${random.between(0, 4)}`;
const middleUser = ({ random }: Draw) => `u-${random.between(800, 1_200)}`;
const rareUser = ({ random }: Draw) => `u-${random.between(300_000, 999_999)}`;
const absent = ({ random }: Draw) => `nobody-${random.between(0, 1_000_000)}`;
const feature = ({ random }: Draw) => random.pick(['search', 'support-chat', 'summaries', 'translation']);
const modelAt = (first: number, last: number) => (draw: Draw) =>
  encodeURIComponent(SEED_MODELS[draw.random.between(first, last)]?.served ?? '');

/** Filters that are asked of several pages: a name, and the filter. */
const FILTERS = {
  'metadata of few values': (draw: Draw) => `metadata.feature:eq:${feature(draw)}`,
  'frequent user': (draw: Draw) => `metadata.User-Id:eq:${frequentUser(draw)}`,
  'middle user': (draw: Draw) => `metadata.user-id:eq:${middleUser(draw)}`,
  'rare user': (draw: Draw) => `metadata.User-Id:eq:${rareUser(draw)}`,
  'absent user': (draw: Draw) => `metadata.User-Id:eq:${absent(draw)}`,
  'promoted metadata': (draw: Draw) => `metadata.team:eq:${draw.random.pick(['care', ...TEAMS])}`,
  model: (draw: Draw) => `model:eq:${modelAt(0, 4)(draw)}`,
  errors: () => 'outcome:eq:upstream_error',
} as const;
type FilterName = keyof typeof FILTERS;

const OTHER_CALL_FILTERS: Readonly<Record<string, (draw: Draw) => string | readonly string[]>> = {
  'rare model': (draw) => `model:eq:${modelAt(17, 19)(draw)}`,
  'rare model, answered or requested': (draw) => `any_model:eq:${modelAt(17, 19)(draw)}`,
  'absent model': (draw) => `model:eq:${absent(draw)}`,
  'model requested': (draw) => `model_requested:eq:${SEED_MODELS[draw.random.between(0, 4)]?.requested}`,
  provider: (draw) => `provider:eq:${draw.random.pick(['openai', 'anthropic', 'together', 'bedrock'])}`,
  endpoint: (draw) => `endpoint:eq:${draw.random.pick(['responses', 'messages', 'converse'])}`,
  client: (draw) => `client:eq:${draw.random.pick(['curl', 'langchain', 'ai'])}`,
  key: (draw) => `key_id:eq:${draw.random.between(2, 6)}`,
  'status 529': () => 'status:eq:529',
  'error type': () => 'error_type:eq:overloaded_error',
  'client closed': () => 'outcome:eq:client_closed',
  unpriced: () => 'cost_status:eq:unpriced',
  flag: () => 'flags:eq:path_repaired',
  'client address': (draw) => `client_address:eq:192.0.2.${draw.random.between(0, 63)}`,
  'span name': () => 'span_name:eq:check facts',
  'rare span name': () => 'span_name:eq:reconcile the ledger',
  'one trace id': ({ sample }) => `trace_id:eq:${sample.traceId}`,
  "provider's request id": (draw) => `provider_request_id:eq:req_${absent(draw)}`,
  'cost over a dollar': () => 'total_cost:gte:1',
  'duration over a minute': () => 'duration_ms:gte:60000',
  'unique tag': ({ sample }) => `metadata.request-tag:eq:${sample.requestTag}`,
  'key of metadata present': () => 'metadata.Session-Id:has',
  'rare key of metadata present': () => 'metadata.Ticket:has',
  'absent key of metadata present': (draw) => `metadata.${absent(draw)}:has`,
  'metadata absent': () => 'metadata.Feature:nohas',
  'metadata not equal': (draw) => `metadata.Feature:ne:${feature(draw)}`,
  'metadata contains': (draw) => `metadata.Note:contains:about ${draw.random.between(100, 255)}`,
  'metadata begins with': (draw) => `metadata.User-Id:prefix:u-7${draw.random.between(1_000, 9_999)}`,
  'three users': (draw) => `metadata.User-Id:in:${frequentUser(draw)},${middleUser(draw)},${rareUser(draw)}`,
  'two keys, few and many': (draw) => [
    `metadata.feature:eq:${feature(draw)}`,
    `metadata.user-id:eq:${frequentUser(draw)}`,
  ],
  'two keys, few and few': (draw) => [
    `metadata.feature:eq:${feature(draw)}`,
    `metadata.tenant:eq:tenant-${draw.random.between(0, 20)}`,
  ],
  'two keys and errors': (draw) => [
    `metadata.feature:eq:${feature(draw)}`,
    `metadata.environment:eq:staging`,
    'outcome:eq:upstream_error',
  ],
};

function logs(name: string, parameters: (draw: Draw) => Parameters, pagesBefore?: number): Question {
  return list('logs', name, '/api/v1/logs', parameters, pagesBefore);
}

function list(
  group: string,
  name: string,
  path: string,
  parameters: (draw: Draw) => Parameters,
  pagesBefore?: number,
): Question {
  if (pagesBefore === undefined) return ask(group, name, path, parameters);
  return { group, name, pagesBefore, path: (draw) => at(path, { ...parameters(draw), limit: '500' }) };
}

function ask(group: string, name: string, path: string, parameters: (draw: Draw) => Parameters = () => ({})): Question {
  return { group, name, path: (draw) => at(path, parameters(draw)) };
}

function filtered(names: readonly FilterName[]): readonly (readonly [string, (draw: Draw) => string | undefined])[] {
  return [['all', () => undefined], ...names.map((name) => [name, FILTERS[name]] as const)];
}

const WINDOWS = [
  ['24 h', DAY],
  ['7 d', 7 * DAY],
  ['30 d', 30 * DAY],
] as const;

function listLogQuestions(): readonly Question[] {
  const all = Object.entries({ ...FILTERS, ...OTHER_CALL_FILTERS });
  return [
    logs('newest', () => ({})),
    logs('newest of 7 d', (draw) => lastHours(draw, 7 * DAY)),
    logs('oldest first', () => ({ sort: 'requested_at' })),
    logs('outside runs', () => ({ exclude_runs: 'true' })),
    ...all.map(([name, filter]) => logs(name, (draw) => ({ f: filter(draw) }))),
    logs('frequent user of 7 d', (draw) => ({ f: FILTERS['frequent user'](draw), ...lastHours(draw, 7 * DAY) })),
    logs('rare user, oldest first', (draw) => ({ f: FILTERS['rare user'](draw), sort: 'requested_at' })),
    logs('most cost', () => ({ sort: '-total_cost' })),
    logs('longest', () => ({ sort: '-duration_ms' })),
    logs('most output', () => ({ sort: '-output_tokens' })),
    logs('most cost of 7 d', (draw) => ({ sort: '-total_cost', ...lastHours(draw, 7 * DAY) })),
    logs('most cost by model', (draw) => ({ sort: '-total_cost', f: FILTERS.model(draw) })),
    logs('most cost of a frequent user', (draw) => ({ sort: '-total_cost', f: FILTERS['frequent user'](draw) })),
    logs('longest of errors', () => ({ sort: '-duration_ms', f: FILTERS.errors() })),
    logs('page 41 of 500', () => ({ fields: 'id,requested_at' }), 40),
    logs('page 6 of 500 by metadata', () => ({ fields: 'id', f: 'metadata.feature:eq:search' }), 5),
    logs('page 6 of 500 by cost', () => ({ fields: 'id', sort: '-total_cost' }), 5),
  ];
}

function sumQuestions(): readonly Question[] {
  return [
    ...WINDOWS.flatMap(([window, hours]) =>
      filtered(['metadata of few values', 'frequent user', 'rare user', 'model', 'errors', 'promoted metadata']).map(
        ([name, filter]) =>
          ask('strip', `${window}, ${name}`, '/api/v1/logs/summary', (draw) => ({
            f: filter(draw),
            ...lastHours(draw, hours),
          })),
      ),
    ),
    ask('strip', '30 d, outside runs', '/api/v1/logs/summary', (draw) => ({
      exclude_runs: 'true',
      ...lastHours(draw, 30 * DAY),
    })),
    ...filtered(['metadata of few values', 'frequent user', 'rare user', 'model', 'errors']).map(([name, filter]) =>
      ask('facets', name, '/api/v1/logs/facets', (draw) => ({ f: filter(draw) })),
    ),
    ask('facets', '30 d', '/api/v1/logs/facets', (draw) => lastHours(draw, 30 * DAY)),
  ];
}

function runQuestions(): readonly Question[] {
  const runs = (name: string, parameters: (draw: Draw) => Parameters, pagesBefore?: number) =>
    list('runs', name, '/api/v1/runs', parameters, pagesBefore);
  return [
    runs('newest', () => ({})),
    runs('newest of 7 d', (draw) => lastHours(draw, 7 * DAY)),
    ...Object.entries(FILTERS).map(([name, filter]) => runs(name, (draw) => ({ f: filter(draw) }))),
    runs('with errors', () => ({ f: 'run.state:eq:errors' })),
    runs('running', () => ({ f: 'run.state:eq:running' })),
    runs('of 40 calls', () => ({ f: 'run.calls:gte:40' })),
    runs('most cost', () => ({ sort: '-total_cost' })),
    runs('longest', () => ({ sort: '-duration_ms' })),
    runs('most calls', () => ({ sort: '-calls' })),
    runs('most cost of a frequent user', (draw) => ({ sort: '-total_cost', f: FILTERS['frequent user'](draw) })),
    runs('page 11 of 500', () => ({}), 10),
    ...WINDOWS.map(([window, hours]) =>
      ask('run facets', window, '/api/v1/runs/facets', (draw) => lastHours(draw, hours)),
    ),
    ask('run facets', 'all', '/api/v1/runs/facets'),
    ask('run facets', 'by metadata', '/api/v1/runs/facets', (draw) => ({ f: FILTERS['metadata of few values'](draw) })),
    ...WINDOWS.flatMap(([window, hours]) =>
      ['metadata.Feature', 'metadata.Team', 'metadata.User-Id', 'model'].map((by) =>
        ask('run groups', `${by}, ${window}`, '/api/v1/runs/groups', (draw) => ({ by, ...lastHours(draw, hours) })),
      ),
    ),
    ask('run groups', 'metadata.Feature, all', '/api/v1/runs/groups', () => ({ by: 'metadata.Feature' })),
    ...WINDOWS.flatMap(([window, hours]) =>
      filtered(['metadata of few values', 'frequent user', 'promoted metadata']).map(([name, filter]) =>
        ask('run strip', `${window}, ${name}`, '/api/v1/runs/summary', (draw) => ({
          f: filter(draw),
          ...lastHours(draw, hours),
        })),
      ),
    ),
  ];
}

function costQuestions(): readonly Question[] {
  const costs = (name: string, parameters: (draw: Draw) => Parameters) =>
    ask('costs', name, '/api/v1/costs', parameters);
  const groups = [
    'model',
    'provider',
    'key',
    'metadata.Team',
    'metadata.Feature',
    'metadata.User-Id',
    'client',
    'endpoint',
    'outcome',
    'span_name',
    'model,metadata.Team',
    'provider,metadata.Feature',
  ];
  return [
    ...groups.map((group_by) => costs(`${group_by}, 30 d`, (draw) => ({ group_by, ...lastHours(draw, 30 * DAY) }))),
    costs('model, all', () => ({})),
    costs('metadata.Feature, 7 d', (draw) => ({ group_by: 'metadata.Feature', ...lastHours(draw, 7 * DAY) })),
    costs('model by day, 30 d', (draw) => ({ interval: 'day', tz: 'Europe/Berlin', ...lastHours(draw, 30 * DAY) })),
    costs('model by hour, 7 d', (draw) => ({ interval: 'hour', ...lastHours(draw, 7 * DAY) })),
    costs('metadata.Feature by day, 30 d', (draw) => ({
      group_by: 'metadata.Feature',
      interval: 'day',
      ...lastHours(draw, 30 * DAY),
    })),
    ...(['frequent user', 'promoted metadata', 'errors', 'model'] as const).map((name) =>
      costs(`model of ${name}, 30 d`, (draw) => ({ f: FILTERS[name](draw), ...lastHours(draw, 30 * DAY) })),
    ),
  ];
}

/** What a person types into the search field. */
const SEARCHES: Readonly<Record<string, (draw: Draw) => string>> = {
  'name, frequent': () => 'CHECK facts',
  'name, rare': () => 'reconcile the ledger',
  'error text': (draw) => `request ${draw.random.between(1_000, 9_999)}`,
  'metadata value': (draw) => `about ${draw.random.between(100, 255)}`,
  'metadata value, one user': (draw) => rareUser(draw),
  'trace id': ({ sample }) => sample.traceId,
  'call id': ({ sample }) => sample.id,
  'in no call': (draw) => absent(draw),
  'word of prompts, rare': () => RARE_WORD.toLowerCase(),
  'words of prompts, Chinese': () => '季度报告',
  'words of prompts, Arabic': () => 'الضمان رقم',
  emoji: () => '👩‍💻',
};

function searchQuestions(): readonly Question[] {
  const all = Object.entries(SEARCHES);
  return [
    ...all.map(([name, search]) => ask('search', name, '/api/v1/logs', (draw) => ({ q: search(draw) }))),
    ...(['name, rare', 'in no call', 'trace id'] as const).map((name) =>
      ask('search', `runs: ${name}`, '/api/v1/runs', (draw) => ({ q: SEARCHES[name]?.(draw) })),
    ),
    ask('search', 'strip, 30 d: name, frequent', '/api/v1/logs/summary', (draw) => ({
      q: 'check facts',
      ...lastHours(draw, 30 * DAY),
    })),
    ask('search', 'facets: name, rare', '/api/v1/logs/facets', () => ({ q: 'reconcile the ledger' })),
  ];
}

function otherQuestions(): readonly Question[] {
  const month = (draw: Draw) => lastHours(draw, 30 * DAY);
  const exported = (name: string, parameters: (draw: Draw) => Parameters): Question => ({
    group: 'export',
    name,
    isStream: true,
    path: (draw) => at('/api/v1/export', parameters(draw)),
  });
  const inLargeRun = { trace_id: LARGE_RUN.traceId };
  return [
    { group: 'one', name: 'call', path: ({ sample }) => `/api/v1/logs/${sample.id}` },
    ask('one', 'run', '/api/v1/run', ({ sample }) => ({ trace_id: sample.traceId })),
    ask('one', 'run of 50,000', '/api/v1/run', () => inLargeRun),
    ask('one', 'its first calls', '/api/v1/run/calls', () => ({ ...inLargeRun, limit: '1000' })),
    ask('one', 'its first 20,000, in columns', '/api/v1/run/calls', () => ({
      ...inLargeRun,
      limit: '20000',
      columns: 'true',
    })),
    ask('pages', 'metadata keys, 7 d', '/api/v1/metadata-keys', (draw) => lastHours(draw, 7 * DAY)),
    ask('pages', 'metadata keys, 30 d', '/api/v1/metadata-keys', month),
    ask('pages', 'system', '/api/v1/status'),
    ask('pages', 'keys', '/api/v1/keys'),
    ask('pages', 'nodes', '/api/v1/nodes'),
    ask('pages', 'unpriced, 30 d', '/api/v1/prices/unpriced', month),
    exported('calls', () => ({ kind: 'logs' })),
    exported('calls of a rare user', (draw) => ({ kind: 'logs', f: FILTERS['rare user'](draw) })),
    exported('runs', () => ({ kind: 'runs' })),
  ];
}

export const QUESTIONS: readonly Question[] = [
  ...listLogQuestions(),
  ...sumQuestions(),
  ...runQuestions(),
  ...costQuestions(),
  ...searchQuestions(),
  ...otherQuestions(),
];
