/**
 * `tollgate run`: a program in a run of its own, as if nobody stood between it and the terminal. `tollgate setup`: the same
 * for good, as far as it asks the gateway.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { asRecord, COMPILE_CACHE, startGateway, type TestGateway } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1_000, completion_tokens: 200, total_tokens: 1_200 },
});

/** A program that knows nothing of Tollgate: three calls to three providers, then the address that it was given. */
const PROGRAM = `
const call = (base) => fetch(base + '/chat/completions', {
  method: 'POST', headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'gpt-4o-mini', messages: [] }),
}).then((answer) => answer.text());
const { OPENAI_BASE_URL, TOGETHER_BASE_URL, DEEPSEEK_API_BASE } = process.env;
await Promise.all([OPENAI_BASE_URL, TOGETHER_BASE_URL + '/v1', DEEPSEEK_API_BASE].map(call));
console.log(OPENAI_BASE_URL);
process.exitCode = 7;
`;

let provider: ScriptedProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: () => buildAnswer({ headers: [['Content-Type', 'application/json']], body: ANSWER }),
  });
  gateway = await startGateway({
    env: {
      TOLLGATE_UPSTREAM_OPENAI: provider.origin,
      TOLLGATE_UPSTREAM_TOGETHER: provider.origin,
      TOLLGATE_UPSTREAM_DEEPSEEK: provider.origin,
    },
  });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
});

interface Started {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly ended: Promise<number | null>;
}

function start(...args: readonly string[]): Started {
  return startCommand(['run', '--data-dir', gateway.dataDir, ...args], { TOLLGATE_KEY: gateway.key });
}

/** `detached`: in a session of its own, without a terminal. */
function startCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { detached = false } = {},
): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
    env: { PATH: process.env['PATH'], HOME: gateway.dataDir, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, stdout: () => stdout, stderr: () => stderr, ended };
}

test('all calls of a program are one run with its metadata; its end is told as the log has it; the token ends', async () => {
  const { stdout, stderr, ended } = start(
    '--name',
    'nightly build',
    '--meta',
    'Team=search',
    '--meta',
    'Developer=',
    '--',
    process.execPath,
    '--input-type=module',
    '-e',
    PROGRAM,
  );
  expect(await ended).toBe(7);
  const [, cost, trace] =
    /^tollgate: 3 calls · 3\.0k tokens in, 600 out · (\S+ ?\S*) · http:\S+\/run\?trace=(nightly-build-[\d-]+-\w{4})\n$/.exec(
      stderr(),
    ) ?? [stderr()];
  const run = asRecord(await gateway.api(`/api/v1/run?trace_id=${trace}`));
  expect(run).toMatchObject({ calls: 3, open_calls: 0, input_tokens: 3_000, output_tokens: 600 });
  expect(cost).toMatch(/^≥ \$0\.0\d+$|^\$0\.0\d+$/);
  const logs = asRecord(await gateway.api(`/api/v1/logs?f=trace_id:eq:${trace}`))['data'];
  const calls = Array.isArray(logs) ? logs.map(asRecord) : [];
  expect(calls.map((call) => call['provider']).sort()).toEqual(['deepseek', 'openai', 'together']);
  for (const call of calls) expect(call['raw_metadata']).toMatchObject({ Team: 'search' });
  expect(JSON.stringify(calls)).not.toContain('Developer');
  const after = await fetch(`${stdout().trim()}/models`);
  expect([after.status, after.headers.get('x-gateway-error')]).toEqual([401, 'run_token_ended']);
  expect(provider.requests.map(({ target }) => target).sort()).toEqual([
    '/v1/chat/completions',
    '/v1/chat/completions',
    '/v1/chat/completions',
  ]);
});

test('a signal reaches the program, and its end by one is told by the status; the token ends then too', async () => {
  const { child, stdout, stderr, ended } = start(
    '--',
    process.execPath,
    '-e',
    `console.log(process.env.OPENAI_BASE_URL); setInterval(() => {}, 1000)`,
  );
  while (!stdout().includes('\n')) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGTERM');
  expect(await ended).toBe(143);
  expect(stderr()).toMatch(/^tollgate: no calls · http/);
  const after = await fetch(`${stdout().trim()}/models`);
  expect(after.headers.get('x-gateway-error')).toBe('run_token_ended');
});

/** Leads a session with a terminal of its own, starts a command in its foreground, and presses Ctrl-C when it has printed "ready". */
const TERMINAL = `
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp('/bin/sh', ['/bin/sh', '-c', sys.argv[1]])
seen = b''
pressed = False
while True:
    try:
        part = os.read(fd, 1024)
    except OSError:
        break
    if not part:
        break
    seen += part
    if b'ready' in seen and not pressed:
        pressed = True
        os.write(fd, b'\\x03')
os.waitpid(pid, 0)
sys.stdout.write(seen.decode())
`;

const COUNTS = `
let count = 0;
process.on('SIGINT', () => { count += 1; });
setTimeout(() => console.log('ready'), 50);
setTimeout(() => { console.log('signals: ' + count); process.exit(0); }, 1500);
`;

/** What the program under `tollgate run` has written, in a terminal of `script`'s. `before`: in front of the command. */
async function countSignals(script: string, before: string): Promise<string> {
  const command = `${before}${process.execPath} ${MAIN} run --data-dir ${gateway.dataDir} --quiet -- ${process.execPath} -e "$PROGRAM"`;
  const child = spawn('python3', ['-c', script, command], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      HOME: gateway.dataDir,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      TOLLGATE_KEY: gateway.key,
      PROGRAM: COUNTS,
    },
  });
  let seen = '';
  for await (const part of child.stdout) seen += String(part);
  return seen;
}

test.skipIf(spawnSync('python3', ['--version']).status !== 0).each([
  ['', 'of the terminal'],
  ['printf x | ', 'piped'],
])('Ctrl-C reaches the program once: %sits input is %s', async (before) => {
  expect(await countSignals(TERMINAL, before)).toContain('signals: 1');
});

const press = (times: number, how: string) =>
  TERMINAL.replace("os.write(fd, b'\\x03')", `for _ in range(${times}): ${how}; time.sleep(0.3)`).replace(
    'import os, pty, sys',
    'import os, pty, sys, time',
  );

test.skipIf(spawnSync('python3', ['--version']).status !== 0).each([
  ['of three SIGINTs that only `tollgate run` is sent, in a terminal, the third', press(3, 'os.kill(pid, 2)'), 1],
  ['each of two Ctrl-C once', press(2, "os.write(fd, b'\\x03')"), 2],
] as const)('%s reaches the program', async (_, pressing, signals) => {
  expect(await countSignals(pressing, 'exec ')).toContain(`signals: ${signals}`);
});

test('a SIGINT that no terminal sent is passed on', async () => {
  const run = ['run', '--data-dir', gateway.dataDir, '--', process.execPath, '-e', COUNTS];
  const { child, stdout, ended } = startCommand(run, { TOLLGATE_KEY: gateway.key }, { detached: true });
  while (!stdout().includes('ready')) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill('SIGINT');
  await ended;
  expect(stdout()).toContain('signals: 1');
});

test('a token whose `tollgate run` was killed has minutes left, not days', async () => {
  const { child, stdout } = start('--', process.execPath, '-e', `console.log(1); setTimeout(() => {}, 60_000)`);
  while (!stdout().includes('\n')) await new Promise((resolve) => setTimeout(resolve, 20));
  const { data } = asRecord(await gateway.api('/api/v1/run-tokens'));
  child.kill('SIGKILL');
  const [newest] = Array.isArray(data) ? data.map(asRecord) : [];
  expect(Date.parse(String(newest?.['expires_at'])) - Date.parse(String(newest?.['created_at']))).toBe(900_000);
});

test('a program that is not there is status 127', async () => {
  const { stderr, ended } = start('--quiet', '--', 'no-such-program');
  expect(await ended).toBe(127);
  expect(stderr()).toBe('tollgate: no-such-program: command not found\n');
});

test('`setup` shows a change and asks; then the client has a key of its own, which ends when it is undone', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-setup-'));
  const config = join(home, '.codex/config.toml');
  const setup = async (...args: readonly string[]) => {
    const { stdout, stderr, ended } = startCommand(['setup', '--data-dir', gateway.dataDir, ...args], { HOME: home });
    return { status: await ended, text: stdout(), error: stderr() };
  };
  try {
    expect((await setup('codex', '--print')).text).toContain('+http_headers = { X-Gateway-Key = "tgk_…" }');
    const unasked = await setup('codex');
    expect([unasked.status, unasked.error]).toEqual([
      1,
      'tollgate: nobody can be asked here, and nothing was changed; write `--yes`, or `--print` to see it alone\n',
    ]);
    expect(existsSync(config)).toBe(false);

    expect((await setup('codex', '--yes')).status).toBe(0);
    const key = /"(tgk_\w+)"/.exec(readFileSync(config, 'utf8'))?.[1] ?? '';
    const call = () =>
      fetch(`${gateway.base}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'X-Gateway-Key': key, 'content-type': 'application/json' },
        body: '{"model":"gpt-4o-mini","messages":[]}',
      });
    expect((await call()).status).toBe(200);
    expect((await setup('codex', '--yes')).text).toBe(`Codex is set up for ${gateway.base} already.\n`);
    expect((await setup()).text).toContain('codex     Codex (set up)');

    expect((await setup('codex', '--undo', '--yes')).text).toMatch(/Key \d+, which was made for it, is revoked\.\n$/);
    expect((await call()).headers.get('x-gateway-error')).toBe('key_revoked');
    expect(readdirSync(join(home, '.config/tollgate'), { recursive: true })).toEqual(['setup']);
    expect(existsSync(join(home, '.codex'))).toBe(false);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test('a `setup` that breaks off half-way is known: it can be undone, and its key ends', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-setup-'));
  const setup = async (...args: readonly string[]) => {
    const { stdout, stderr, ended } = startCommand(['setup', '--data-dir', gateway.dataDir, ...args], { HOME: home });
    return { status: await ended, text: stdout(), error: stderr() };
  };
  try {
    mkdirSync(join(home, '.config'));
    // The second of its files cannot be made below this.
    symlinkSync('nowhere', join(home, '.config/opencode'));
    const failed = await setup('opencode', '--yes');
    expect([failed.status, failed.error]).toEqual([1, expect.stringContaining('is set up in part')]);
    const key = readFileSync(join(home, '.config/tollgate/keys/opencode'), 'utf8');
    const call = () => fetch(`${gateway.base}/v1/models`, { headers: { 'X-Gateway-Key': key } });
    expect((await call()).status).toBe(200);
    const undone = await setup('opencode', '--undo', '--yes');
    expect([undone.status, undone.text]).toEqual([0, expect.stringMatching(/which was made for it, is revoked\.\n$/)]);
    expect((await call()).headers.get('x-gateway-error')).toBe('key_revoked');
    expect(existsSync(join(home, '.config/tollgate/keys'))).toBe(false);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
