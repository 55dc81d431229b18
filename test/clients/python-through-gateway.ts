/** The Python package with a whole gateway: runs and steps as the log has them, and what reaches the provider. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { asRecord, startGateway, waitUntil } from '../gateway/start-gateway.ts';
import { type RecordedRequest, startScriptedProvider } from '../support/fake-provider.ts';
import { listFixturesOf } from '../support/fixtures.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { checkSignature } from '../support/verify-signature.ts';

const PACKAGE = join(import.meta.dirname, '../../clients/python');
const CALLS_OF_A_RUN = 4;

async function runProgram(python: string, env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(python, ['tests/against_gateway.py'], {
    cwd: PACKAGE,
    env: { ...process.env, ...env, PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1' },
    stdio: 'inherit',
  });
  const status = await new Promise((resolve) => child.once('close', resolve));
  assert.equal(status, 0, 'the program failed');
}

/** Chat for OpenAI, Converse for Bedrock. */
const ANSWERS = [...listFixturesOf('openai'), ...listFixturesOf('bedrock')];

function answer({ target }: RecordedRequest) {
  const name = target.startsWith('/model/') ? 'converse' : 'chat';
  const fixture = ANSWERS.find((one) => one.name === name);
  assert(fixture, name);
  return buildAnswer({ headers: [['content-type', 'application/json']], body: fixture.body });
}

/** How many calls are at and beneath each step. */
function readSteps(run: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { steps } = run;
  assert(Array.isArray(steps));
  return Object.fromEntries(
    steps.map(asRecord).map(({ names, calls }) => [Array.isArray(names) ? names.join(' > ') : '', calls]),
  );
}

export async function testThroughGateway(python: string): Promise<void> {
  const provider = await startScriptedProvider({ answer });
  const upstreams = { TOLLGATE_UPSTREAM_OPENAI: provider.origin, TOLLGATE_UPSTREAM_BEDROCK: provider.origin };
  const gateway = await startGateway({ env: upstreams });
  try {
    await runProgram(python, { TOLLGATE_URL: gateway.base, TOLLGATE_KEY: gateway.key });
    for (const id of ['helper-x', 'helper-y']) {
      const run = await waitUntil(`the calls of ${id}`, async () => {
        const found = asRecord(await gateway.api(`/api/v1/run?trace_id=${id}`).catch(() => ({})));
        return found['calls'] === CALLS_OF_A_RUN ? found : undefined;
      });
      assert.deepEqual(readSteps(run), { plan: 3, 'plan > prüfen / 1': 2, sign: 1 });
    }
    assert.equal(provider.requests.length, 2 * CALLS_OF_A_RUN);
    for (const { rawHeaders, method, target, body } of provider.requests) {
      assert(!/x-gateway|tgk_/i.test(rawHeaders.join('\n')), 'a header of ours reached the provider');
      if (target.startsWith('/model/')) {
        assert(
          checkSignature({ method, target, rawHeaders, body: body() }, 'secret').isValid,
          'the signature is broken',
        );
      }
    }
    console.log(
      'through a gateway: two runs side by side, the right steps, signatures hold, nothing of ours at the provider',
    );
  } finally {
    await gateway.stop();
    await provider.close();
  }
}
