/**
 * `npm run test:agents [-- NAME…]`: coding agents as their users start them, set up for good and in a run of their own, and a
 * Python program with all SDKs that knows of no gateway. Minutes, and packages of others, so not in CI. `-- --own-ids [NAME…]`
 * is another part: whether agents with base address and key alone are in the right runs (`own-ids.ts`).
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeProvider } from '../../src/demo/fake-provider.ts';
import { PROVIDER_NAMES } from '../../src/vocabulary/call-record.ts';
import { answerFixture } from '../gateway/sdk-comparison.ts';
import { startGateway, type TestGateway } from '../gateway/start-gateway.ts';
import { installAgents, installAider } from '../recipes/runners/agents.ts';
import { findPython, installSdks, NEEDS_PYTHON } from '../recipes/runners/python.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { checkSignature } from '../support/verify-signature.ts';
import { createAgentStage } from './agent-stage.ts';
import { AGENT_CASES } from './agents.ts';
import { runOwnIds } from './own-ids.ts';
import { judgeRun, tryAgent } from './try-agent.ts';

const root = join(import.meta.dirname, '../..');
const OWN_IDS = '--own-ids';
const START_LIMIT_MS = 180_000;
const PYTHON_CALLS = 13;
const AWS_SECRET = 'a-secret-of-the-programs';

/** Its own signature must arrive as AWS would check it, though the program was told of no gateway. */
async function tryPython(gateway: TestGateway, bedrock: ScriptedProvider, python: string): Promise<readonly string[]> {
  const stage = createAgentStage(gateway, '/nowhere', {});
  try {
    copyFileSync(join(import.meta.dirname, 'app.py'), join(stage.home, 'shop/app.py'));
    const aws = { AWS_ACCESS_KEY_ID: 'AKIAPROGRAM000000000', AWS_SECRET_ACCESS_KEY: AWS_SECRET };
    const { status, stdout, stderr } = await stage.tollgate(['run', '--key', gateway.key, '--', python, 'app.py'], aws);
    if (status !== 0) return [`app.py ended with ${status}: ${stderr.slice(-1_500)}`];
    const wrong = [...(await judgeRun(gateway, stderr))];
    if (!stderr.includes(`tollgate: ${PYTHON_CALLS} calls `)) wrong.push(`not ${PYTHON_CALLS} calls: ${stderr}`);
    const [signed] = bedrock.requests;
    const arrived = signed && { ...signed, body: signed.body() };
    if (arrived === undefined || !checkSignature(arrived, AWS_SECRET).isValid)
      wrong.push('its AWS signature is not valid');
    const after = await fetch(`${stdout.trim()}/v1/models`);
    if (after.headers.get('x-gateway-error') !== 'run_token_ended')
      wrong.push(`its token still works: ${after.status}`);
    return wrong;
  } finally {
    stage.remove();
  }
}

/** As vitest does with tests that start processes: on a busy machine the closing line may come before the last record. */
async function tryTwice(attempt: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const wrong = await attempt();
  if (wrong.length === 0) return wrong;
  console.log(`retry    ${wrong.join('; ')}`);
  return attempt();
}

/** The number of those that failed. */
async function trySetups(names: readonly string[]): Promise<number> {
  const isChosen = (name: string) => names.length === 0 || names.includes(name);
  const demo = await startFakeProvider({
    host: '127.0.0.1',
    port: 0,
    fixturesDir: join(root, 'fixtures'),
    latencyMs: 0,
    eventDelayMs: 0,
  });
  // At the root of its address, since a signature covers the path.
  const bedrock = await startScriptedProvider({ answer: () => answerFixture('bedrock/converse') });
  let failures = 0;
  function tell(name: string, wrong: readonly string[]): void {
    if (wrong.length > 0) failures += 1;
    console.log(wrong.length === 0 ? `ok       ${name}` : `FAILED   ${name}: ${wrong.join('; ')}`);
  }

  try {
    const upstreams = PROVIDER_NAMES.map((name) => [
      `TOLLGATE_UPSTREAM_${name.toUpperCase()}`,
      name === 'bedrock' ? bedrock.origin : `${demo.origin}/${name}`,
    ]);
    const gateway = await startGateway({ env: Object.fromEntries(upstreams), timeoutMs: START_LIMIT_MS });
    try {
      const cases = AGENT_CASES.filter(({ setup }) => isChosen(setup));
      const found = findPython();
      for (const one of cases) {
        const isPython = one.program === 'aider';
        if (isPython && found === null) console.log(`NOT RUN  ${one.setup}: needs ${NEEDS_PYTHON}`);
        else {
          const programs = isPython ? installAider(String(found)) : join(installAgents(), '.bin');
          tell(one.setup, await tryTwice(() => tryAgent(gateway, programs, one)));
        }
      }
      const given = process.env['RECIPES_PYTHON'] ?? null;
      const python = !isChosen('python') ? null : (given ?? (found === null ? null : installSdks(found)));
      if (python !== null) tell('python', await tryTwice(() => tryPython(gateway, bedrock, python)));
      else if (isChosen('python')) console.log(`NOT RUN  python: needs ${NEEDS_PYTHON}`);
    } finally {
      await gateway.stop();
    }
  } finally {
    await demo.close();
    await bedrock.close();
  }
  return failures;
}

const names = process.argv.slice(2);
const failures = names[0] === OWN_IDS ? await runOwnIds(names.slice(1)) : await trySetups(names);
process.exitCode = failures > 0 ? 1 : 0;
