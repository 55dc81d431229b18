/**
 * `npm run test:agents -- --own-ids [NAME…]`: whether agents that have base address and key alone are in the right runs. Of
 * each two sessions at once, which start sub-agents, one of them resumed, and a third that is killed within an answer; then
 * every call of the provider's ledger has to be in the log, in the run and the node in which it belongs.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asRecord, startGateway, type TestGateway, waitUntil } from '../gateway/start-gateway.ts';
import { root } from '../recipes/install-once.ts';
import { readRecipes } from '../recipes/read-recipes.ts';
import { AGENT_ENV, installAgents } from '../recipes/runners/agents.ts';
import { endLeftovers } from '../support/end-leftovers.ts';
import { type AgentStage, createAgentStage, type Ended, readCalls } from './agent-stage.ts';
import { formatOwnIds, formatTree, type Tried } from './format-own-ids.ts';
import { judgeSessions, judgeSums } from './judge-sessions.ts';
import { type Command, type Lead, OWN_ID_CASES, type OwnIdCase } from './own-id-cases.ts';
import type { Row } from './pair-calls.ts';
import { KILLED_SESSION, PARALLEL_SESSIONS, promptOf, RESUMED_SESSION } from './session-script.ts';
import { type SpawningProvider, startSpawningProvider } from './spawning-provider.ts';

const START_LIMIT_MS = 180_000;
const CUT_LIMIT_MS = 120_000;
/** In which what was said of the answer that is cut is on its way through the gateway. */
const WITHIN_ANSWER_MS = 1_000;
/** After the last call has ended: the gateway stores in batches, and moves what it placed by one call alone. */
const STORED_LIMIT_MS = 30_000;
const POLL_MS = 500;
const TOLD_CHARS = 600;

interface Stand {
  readonly gateway: TestGateway;
  readonly provider: SpawningProvider;
  readonly modules: string;
}

/** What is wrong with how the programs ended, and what they called their sessions. */
interface Sessions {
  readonly wrong: readonly string[];
  readonly ids: ReadonlyMap<string, string>;
}

function readRecipe(gateway: TestGateway, name: string): string {
  const block = readRecipes(readFileSync(join(root, 'docs/clients.md'), 'utf8')).find((one) => one.name === name);
  if (block === undefined) throw new Error(`there is no recipe ${name}`);
  return block.code.replaceAll('127.0.0.1:4141', `127.0.0.1:${gateway.port}`);
}

const promptOfPerson = (session: string, message: number) => promptOf({ session, agent: 'main', message });

function judgeEnd(session: string, { status, stdout, stderr }: Ended): readonly string[] {
  return status === 0 ? [] : [`session ${session} ended with ${status}: ${`${stdout}${stderr}`.slice(-TOLD_CHARS)}`];
}

async function startSessions(
  provider: SpawningProvider,
  one: OwnIdCase,
  stage: AgentStage,
  lead: Lead,
): Promise<Sessions> {
  const start = ([program, ...args]: Command) => stage.start(program, args, { ...AGENT_ENV, ...one.env(lead) });
  const ask = (session: string) => start(one.ask(promptOfPerson(session, 1), lead));
  const wrong: string[] = [];
  const ids = new Map<string, string>();
  const read = async (session: string) => {
    const ended = await ask(session);
    const id = one.sessionId.exec(`${ended.stdout}\n${ended.stderr}`)?.[1];
    wrong.push(...judgeEnd(session, ended));
    if (id === undefined) wrong.push(`session ${session} said no id: ${ended.stdout.slice(0, TOLD_CHARS)}`);
    else ids.set(session, id);
  };
  await Promise.all(PARALLEL_SESSIONS.map(read));
  const id = ids.get(RESUMED_SESSION);
  if (id === undefined) return { wrong, ids };
  const resumed = await start(one.resume(id, promptOfPerson(RESUMED_SESSION, 2), lead));
  wrong.push(...judgeEnd(`${RESUMED_SESSION}, resumed,`, resumed));
  await killWithinAnswer(provider, stage, ask(KILLED_SESSION)).catch((error: unknown) => wrong.push(String(error)));
  return { wrong, ids };
}

async function killWithinAnswer(provider: SpawningProvider, stage: AgentStage, program: Promise<Ended>): Promise<void> {
  let hasEnded = false;
  const ended = program.finally(() => {
    hasEnded = true;
  });
  const isCut = () => hasEnded || provider.ledger().some((call) => call.isCut) || undefined;
  await waitUntil('the answer that is cut', isCut, CUT_LIMIT_MS).catch(() => {});
  if (!hasEnded) await sleep(WITHIN_ANSWER_MS);
  // With all that it started: of many, what is started first only starts the agent.
  endLeftovers(stage.home);
  const { status, stderr } = await ended;
  if (status !== null) throw new Error(`the killed session ended by itself: ${status} ${stderr.slice(-TOLD_CHARS)}`);
}

async function tryCase({ gateway, provider, modules }: Stand, one: OwnIdCase): Promise<Tried> {
  const body = JSON.stringify({ name: one.name, runs_from: one.runsFrom });
  const { id: keyId, key } = asRecord(await gateway.api('/api/v1/keys', { method: 'POST', body }));
  const lead: Lead = {
    base: gateway.base,
    key: String(key),
    modules,
    recipe: (name) => readRecipe(gateway, name),
  };
  const stage = createAgentStage(gateway, join(modules, '.bin'), one.files(lead));
  provider.begin(one.tools);
  try {
    const sessions = await startSessions(provider, one, stage, lead);
    const deadlineMs = performance.now() + STORED_LIMIT_MS;
    for (;;) {
      const tried = await judgeCase(gateway, one, `key_id:eq:${keyId}`, sessions, provider);
      if (tried.wrong.length === sessions.wrong.length || performance.now() > deadlineMs) return tried;
      await sleep(POLL_MS);
    }
  } finally {
    stage.remove();
  }
}

async function judgeCase(
  gateway: TestGateway,
  one: OwnIdCase,
  filter: string,
  { wrong, ids: sessionIds }: Sessions,
  provider: SpawningProvider,
): Promise<Tried> {
  const ledger = provider.ledger();
  const judged = judgeSessions(one, { ledger, rows: await readCalls(gateway, filter), sessionIds });
  const runs = await Promise.all(judged.runs.map(async (run) => [run, await readRun(gateway, run.traceId)] as const));
  const sums = runs.flatMap(([run, said]) => judgeSums(run, said));
  return { one, judged, wrong: [...wrong, ...judged.wrong, ...sums], calls: ledger.length, runs };
}

/** Nothing for a run that is not there yet. */
async function readRun(gateway: TestGateway, traceId: string | null): Promise<Row> {
  if (traceId === null) return {};
  return asRecord(await gateway.api(`/api/v1/run?trace_id=${encodeURIComponent(traceId)}`).catch(() => ({})));
}

/** The number of agents that failed. */
export async function runOwnIds(names: readonly string[]): Promise<number> {
  const known = OWN_ID_CASES.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}, but ${known.join(', ')}`);
  const modules = installAgents();
  const provider = await startSpawningProvider();
  const all: Tried[] = [];
  try {
    const upstreams = ['ANTHROPIC', 'OPENAI', 'GEMINI'].map((name) => [`TOLLGATE_UPSTREAM_${name}`, provider.origin]);
    const gateway = await startGateway({ env: Object.fromEntries(upstreams), timeoutMs: START_LIMIT_MS });
    try {
      for (const one of OWN_ID_CASES.filter(({ name }) => names.length === 0 || names.includes(name))) {
        const tried = await tryCase({ gateway, provider, modules }, one);
        all.push(tried);
        console.log([...formatTree(tried), ''].join('\n'));
        for (const sentence of tried.wrong) console.log(`FAILED   ${one.name}: ${sentence}`);
      }
    } finally {
      await gateway.stop();
    }
  } finally {
    await provider.close();
  }
  console.log(formatOwnIds(all).join('\n'));
  for (const { name, note } of all.map(({ one }) => one)) if (note !== undefined) console.log(`${name}: ${note}`);
  return all.filter(({ wrong }) => wrong.length > 0).length;
}
