/** Judges the nodes that share the database for `doctor` and `verify`. Pure. */
import { z } from 'zod';
import { formatDuration, formatExactCount } from '../vocabulary/format-amounts.ts';
import type { Finding } from './finding.ts';
import { terminalText } from './terminal-text.ts';

export const Nodes = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      host: z.string(),
      is_self: z.boolean(),
      version: z.string(),
      state: z.enum(['live', 'silent', 'stopped']),
      started_at: z.string(),
      seen_at: z.string(),
      silent_seconds: z.number(),
      is_doubled: z.boolean(),
      clock_skew_ms: z.number(),
      clock_stepped_at: z.string().nullable(),
      clock_step_ms: z.number().nullable(),
      records_waiting: z.number().nullable(),
      open_calls: z.number().nullable(),
      shown_open: z.number(),
      differing_settings: z.array(z.string()),
      /** Absent from older gateways, which have no roles. */
      role: z.enum(['all', 'proxy', 'control']).default('all'),
    }),
  ),
});
export type Node = z.infer<typeof Nodes>['data'][number];

/** The gateway's `MAX_SKEW_MS`. */
const MAX_SKEW_MS = 120_000;
const STEP_NEWS_SECONDS = 24 * 3_600;
const DAY_SECONDS = 86_400;
/** The gateway's `SILENT_AFTER_MINUTES`. */
const SILENT_SECONDS = 15 * 60;

export function formatSkew(ms: number): string {
  if (ms === 0) return '0 ms';
  const size =
    Math.abs(ms) >= 2 * DAY_SECONDS * 1_000
      ? `${Math.round(Math.abs(ms) / 86_400_000)} days`
      : formatDuration(Math.abs(ms));
  return `${size} ${ms > 0 ? 'ahead' : 'behind'}`;
}

export function describeLeft({ records_waiting, open_calls, shown_open }: Node): string {
  const records =
    records_waiting === null ? 'an unknown number of records' : `${formatExactCount(records_waiting)} records`;
  return `${records} waiting and ${formatExactCount(Math.max(open_calls ?? 0, shown_open))} calls open when it was last seen`;
}

export function hasLeft({ records_waiting, open_calls, shown_open }: Node): boolean {
  return records_waiting !== 0 || (open_calls ?? 0) > 0 || shown_open > 0;
}

export function* judgeNodes({ data }: z.infer<typeof Nodes>, nowMs: number): Generator<Finding> {
  const others = data.filter(({ is_self }) => !is_self);
  const isAll = others.every(({ state }) => state !== 'silent');
  if (isAll && others.length > 0)
    yield { level: 'ok', text: `nodes: ${data.filter(({ state }) => state === 'live').length} live` };
  if (data.length > 0 && !data.some(({ role, silent_seconds }) => role !== 'proxy' && silent_seconds < SILENT_SECONDS))
    yield {
      level: 'problem',
      text: 'nodes: none with the role "control" or "all" has given a sign of life within 15 minutes: nothing is deleted, no job runs, no price is fetched; start one',
    };
  for (const node of data) yield* judgeNode(node, nowMs);
  for (const [name, named] of Map.groupBy(
    data.filter(({ state }) => state === 'live'),
    (node) => node.name,
  ))
    if (named.length > 1)
      yield {
        level: 'problem',
        text: `nodes: ${named.length} have the name ${terminalText(name)} (on ${named.map(({ host }) => terminalText(host)).join(', ')}): only the one that came first spends of hard budgets; give each a TOLLGATE_NODE of its own`,
      };
}

function* judgeNode(node: Node, nowMs: number): Generator<Finding> {
  const who = `node ${terminalText(node.name)}`;
  if (node.state === 'silent')
    yield {
      level: hasLeft(node) ? 'problem' : 'note',
      text: `${who}: silent for ${formatDuration(node.silent_seconds * 1_000)}, with ${describeLeft(node)}. Start it again, or bring its spool: docs/node-gone.md; \`tollgate nodes forget\` ends this line`,
    };
  if (node.state === 'stopped' && hasLeft(node))
    yield { level: 'note', text: `${who}: stopped, with ${describeLeft(node)}; they are stored when it starts again` };
  if (node.state !== 'live') return;
  if (Math.abs(node.clock_skew_ms) > MAX_SKEW_MS)
    yield {
      level: 'problem',
      text: `${who}: its clock is ${formatSkew(node.clock_skew_ms)} of the database’s. Its calls are dated by that one, and it deletes nothing; set its clock`,
    };
  if (node.clock_stepped_at !== null && nowMs - Date.parse(node.clock_stepped_at) < STEP_NEWS_SECONDS * 1_000)
    yield {
      level: 'note',
      text: `${who}: its clock jumped by ${formatSkew(node.clock_step_ms ?? 0).replace(/ (ahead|behind)$/, '')} at ${node.clock_stepped_at}; calls that were open have the flag clock_step`,
    };
  if (node.is_doubled)
    yield {
      level: 'problem',
      text: `${who}: two gateways say that they are this node: a data directory was copied. Stop one, remove node.json from its data directory, start it again`,
    };
  if (node.differing_settings.length > 0)
    yield {
      level: 'note',
      text: `${who}: was started with another ${node.differing_settings.join(', ')} than all nodes have; \`tollgate settings\` shows what counts`,
    };
}
