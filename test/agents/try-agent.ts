/** One agent: set up for good and started, started in a run of its own, and taken back. Returns what is wrong, as sentences. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asRecord, type TestGateway, waitUntil } from '../gateway/start-gateway.ts';
import { type AgentStage, createAgentStage, readCalls } from './agent-stage.ts';
import type { AgentCase } from './agents.ts';

const CLOSING_LINE = /^tollgate: (\d+) calls? · .* · ((?:≥ )?\S+) · http:\S+\?trace=(\S+)$/m;

type Row = Readonly<Record<string, unknown>>;

function judgeRows(rows: readonly Row[], provider: string): readonly string[] {
  const wrong = rows.length === 0 ? ['no call came'] : [];
  const outcomes = rows.filter(({ outcome }) => outcome !== 'ok').map(({ outcome }) => `a call ended as ${outcome}`);
  const others = rows.filter((row) => row['provider'] !== provider).map((row) => `a call went to ${row['provider']}`);
  return [...wrong, ...outcomes, ...others];
}

/** The closing line beside the log, attribution of each call, and the token afterwards. */
export async function judgeRun(gateway: TestGateway, stderr: string): Promise<readonly string[]> {
  const [line, calls, cost, traceId] = CLOSING_LINE.exec(stderr) ?? [];
  if (line === undefined || traceId === undefined) return [`no closing line: ${stderr.slice(-500)}`];
  const rows = await readCalls(gateway, `trace_id:eq:${traceId}`);
  const run = asRecord(await gateway.api(`/api/v1/run?trace_id=${traceId}`));
  const wrong = [];
  if (rows.length !== Number(calls) || run['calls'] !== rows.length)
    wrong.push(`the line says ${calls} calls, the run ${run['calls']}, the log has ${rows.length}`);
  if (!/^(?:≥ )?\$\d/.test(cost ?? '')) wrong.push(`the line says no cost: ${cost}`);
  for (const row of rows) {
    const { Developer, Repo, Branch, Commit } = asRecord(row['raw_metadata']);
    const isWhole = Developer === 'ada@example.com' && Repo === 'team/shop' && Branch === 'feature/checkout';
    if (!isWhole || !/^[\da-f]{40}$/.test(String(Commit)))
      wrong.push(`a call has ${JSON.stringify(row['raw_metadata'])}`);
  }
  const { data } = asRecord(await gateway.api('/api/v1/run-tokens'));
  const token = (Array.isArray(data) ? data.map(asRecord) : []).find((one) => one['trace_id'] === traceId);
  if (token === undefined || token['ended_at'] === null) wrong.push('its token did not end');
  return wrong;
}

async function trySetup(gateway: TestGateway, stage: AgentStage, one: AgentCase): Promise<readonly string[]> {
  const before = await readKeyIds(gateway);
  const setup = await stage.tollgate(['setup', one.setup, '--yes']);
  if (setup.status !== 0) return [`setup: ${setup.stderr}`];
  const keyId = (await readKeyIds(gateway)).find((id) => !before.includes(id));
  const ended = await stage.start(one.program, one.args);
  const rows = await waitUntil('its calls', async () => {
    const found = await readCalls(gateway, `key_id:eq:${keyId}`);
    return found.length > 0 ? found : undefined;
  }).catch(() => []);
  if (rows.length === 0) return [`set up, no call came: ${ended.stdout.slice(-300)}${ended.stderr.slice(-300)}`];
  const lost = rows.filter(({ trace_id: id }) => one.hasSession !== /^[\w-]+:./.test(String(id ?? '')));
  return [...judgeRows(rows, one.provider), ...lost.map(({ trace_id: id }) => `set up, a call is in the run ${id}`)];
}

async function readKeyIds(gateway: TestGateway): Promise<readonly unknown[]> {
  const { data } = asRecord(await gateway.api('/api/v1/keys'));
  return Array.isArray(data) ? data.map((key) => asRecord(key)['id']) : [];
}

/** To the byte where the agent has not written to the file itself since. */
async function tryUndo(gateway: TestGateway, stage: AgentStage, one: AgentCase): Promise<readonly string[]> {
  const read = (name: string) => readFileSync(join(stage.home, name), 'utf8');
  const files = Object.entries(one.files ?? {});
  const record = JSON.parse(read(`.config/tollgate/setup/${one.setup}.json`));
  const isOurs = (name: string) =>
    record.files.some((file: { path: string; after: string }) => file.path.endsWith(name) && file.after === read(name));
  const untouched = files.filter(([name]) => isOurs(name));
  const { status, stderr } = await stage.tollgate(['setup', one.setup, '--undo', '--yes']);
  if (status !== 0) return [`undo: ${stderr}`];
  return [
    ...untouched.filter(([name, text]) => read(name) !== text).map(([name]) => `${name} is not as it was`),
    ...files.filter(([name]) => read(name).includes(gateway.base)).map(([name]) => `${name} still leads here`),
  ];
}

export async function tryAgent(gateway: TestGateway, programs: string, one: AgentCase): Promise<readonly string[]> {
  const stage = createAgentStage(gateway, programs, one.files ?? {});
  try {
    const wrong = [...(await trySetup(gateway, stage, one))];
    const ran = await stage.tollgate(['run', '--key', gateway.key, '--', one.program, ...one.args]);
    wrong.push(...(await judgeRun(gateway, ran.stderr)));
    return [...wrong, ...(await tryUndo(gateway, stage, one))];
  } finally {
    stage.remove();
  }
}
