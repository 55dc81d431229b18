/** The table of the lane, and a run of each agent as text. Pure. */
import { formatTable, right } from '../../src/cli/format-table.ts';
import { formatUsd } from '../../src/vocabulary/usd.ts';
import { asRecord } from '../gateway/start-gateway.ts';
import type { ExpectedRun, Judged } from './judge-sessions.ts';
import type { OwnIdCase } from './own-id-cases.ts';
import type { Row } from './pair-calls.ts';
import { RESUMED_SESSION } from './session-script.ts';

export interface Tried {
  readonly one: OwnIdCase;
  readonly judged: Judged;
  readonly wrong: readonly string[];
  /** Of the ledger. */
  readonly calls: number;
  /** What the gateway says of each run that has to be. */
  readonly runs: readonly (readonly [ExpectedRun, Row])[];
}

const COLUMNS = [
  'agent',
  ...['calls', 'runs', 'agents', 'depth', 'in run and node', 'tokens in log', 'in ledger', 'cost'].map(right),
  'result',
];
const NODE_COLUMNS = ['  node', ...['calls', 'own', 'in', 'out', 'cost'].map(right), 'in the ledger'];

/** A line for each agent. `tokens`: input and output. */
export function formatOwnIds(all: readonly Tried[]): readonly string[] {
  return formatTable(COLUMNS, all.map(formatLine));
}

function formatLine({ one, judged, wrong, calls, runs }: Tried): readonly string[] {
  const sumOf = (column: string) => runs.reduce((all, [, said]) => all + Number(said[column] ?? 0), 0);
  return [
    one.name,
    ...[calls, judged.runs.length, judged.agents, judged.depth].map(String),
    `${judged.placedCalls}/${calls}`,
    `${sumOf('input_tokens')} + ${sumOf('output_tokens')}`,
    `${judged.runs.reduce((all, run) => all + run.input, 0)} + ${judged.runs.reduce((all, run) => all + run.output, 0)}`,
    `$${formatUsd(judged.runs.reduce((all, run) => all + run.cost, 0n))}`,
    wrong.length === 0 ? 'ok' : 'FAILED',
  ];
}

/** The resumed session as the gateway has it; each node with the agent that the ledger knows it as. */
export function formatTree({ one, runs }: Tried): readonly string[] {
  if (one.tells === 'conversations') {
    const own = runs.filter(([{ name }]) => name.startsWith(`${RESUMED_SESSION} `));
    const rows = own.map(([{ name, traceId }, said]) => [`  ${traceId}`, ...formatSums(said, said['calls']), name]);
    return [`${one.name}, the conversations of session ${RESUMED_SESSION}`, ...formatTable(NODE_COLUMNS, rows)];
  }
  const [run, said] = runs.find(([{ name }]) => name === RESUMED_SESSION) ?? [];
  const steps = Array.isArray(said?.['steps']) ? said['steps'].map(asRecord) : [];
  const rows = listBelow('', steps).map((step) => {
    const names = String(step['span_key']).split('/');
    const call = run?.pairs.find(({ row }) => row['span_path'] === step['span_key'])?.call;
    const node = `  ${'  '.repeat(names.length - 1)}${names.at(-1)}`;
    return [node, ...formatSums(step, step['own_calls']), call?.place?.agent ?? ''];
  });
  return [`${one.name}, session ${RESUMED_SESSION}: ${run?.traceId}`, ...formatTable(NODE_COLUMNS, rows)];
}

function formatSums(said: Row, own: unknown): readonly string[] {
  return [...[said['calls'], own, said['input_tokens'], said['output_tokens']].map(String), `$${said['total_cost']}`];
}

/** Each step with those below it, where the API has them by their first start. */
function listBelow(above: string, steps: readonly Row[]): readonly Row[] {
  return steps
    .filter(({ span_key: key }) => key !== '' && String(key).split('/').slice(0, -1).join('/') === above)
    .flatMap((step) => [step, ...listBelow(String(step['span_key']), steps)]);
}
