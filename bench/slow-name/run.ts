/**
 * `npm run bench:slow-name`: what calls to one provider take while others wait for the name of another, which its name
 * server answers after seconds. What is measured, how, and what to distrust: ../README.md.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startGateway } from '../../test/gateway/start-gateway.ts';
import { startNameServer } from './name-server.ts';

const USAGE = `npm run bench:slow-name -- [options]
  --delay S      until the name server answers (default 6)
  --waiting N    calls that wait for the slow name (default 12)
  --names N      slow names among which they are shared (default 1)
  --calls N      to the other provider meanwhile, ten a second (default 60)
  --release DIR  the source of the gateway to run (default: this one)`;
const CALL_INTERVAL_MS = 100;
const INSIDE = 'TOLLGATE_BENCH_NAMESPACE';

const { values: options } = parseArgs({
  options: {
    delay: { type: 'string', default: '6' },
    waiting: { type: 'string', default: '12' },
    names: { type: 'string', default: '1' },
    calls: { type: 'string', default: '60' },
    release: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

/** A network and a view of the file system of our own: nothing else on this machine sees the name server. */
function runInNamespace(): number {
  const args = ['--net', '--mount', process.execPath, ...process.argv.slice(1)];
  const isRoot = process.getuid?.() === 0;
  const result = spawnSync('unshare', isRoot ? args : ['--user', '--map-root-user', ...args], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  });
  return result.status ?? 1;
}

function enterNetwork(directory: string): void {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  const file = join(directory, 'resolv.conf');
  // More than the delay, so that the system asks once.
  writeFileSync(file, 'nameserver 127.0.0.1\noptions timeout:30 attempts:1\n');
  execFileSync('mount', ['--bind', file, '/etc/resolv.conf']);
}

interface Answer {
  readonly status: number;
  readonly ms: number;
}

function call(port: number, key: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const startedMs = performance.now();
  const agent = new Agent();
  return new Promise((resolve, reject) => {
    const given = { 'x-gateway-key': key, 'content-type': 'application/json', ...headers };
    const path = '/v1/chat/completions';
    const sent = request({ port, host: '127.0.0.1', method: 'POST', path, headers: given, agent }, (answer) => {
      answer.resume();
      answer.once('end', () => {
        agent.destroy();
        resolve({ status: answer.statusCode ?? 0, ms: performance.now() - startedMs });
      });
    });
    sent.once('error', reject);
    sent.end('{"model":"gpt-x","messages":[]}');
  });
}

function describe(name: string, answers: readonly Answer[]): string {
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] ?? Number.NaN).toFixed(1);
  const well = answers.filter(({ status }) => status === 200).length;
  return `${name.padEnd(42)} ${String(well).padStart(3)} of ${answers.length} answered   p50 ${at(0.5)} ms   worst ${at(1)} ms`;
}

async function measure(port: number, key: string): Promise<Answer[]> {
  const calls: Promise<Answer>[] = [];
  for (let count = 0; count < Number(options.calls); count += 1) {
    calls.push(call(port, key, { 'x-gateway-provider': 'openai' }));
    await sleep(CALL_INTERVAL_MS);
  }
  return Promise.all(calls);
}

async function run(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  chmodSync(directory, 0o755);
  enterNetwork(directory);
  const names = await startNameServer(Number(options.delay) * 1_000);
  // Each call is to need a connection, and with it an address.
  const provider = createServer((_, answer) => answer.writeHead(200, { connection: 'close' }).end('{}'));
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const address = provider.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const slow = Array.from({ length: Number(options.names) }, (_, index) => `slow${index}`);
  const aliases = slow.map((name) => [
    `TOLLGATE_UPSTREAM_OPENAI_${name.toUpperCase()}`,
    `http://${name}.test:${address.port}`,
  ]);
  const gateway = await startGateway({
    ...(options.release === undefined ? {} : { release: options.release }),
    env: { TOLLGATE_UPSTREAM_OPENAI: `http://quick.test:${address.port}`, ...Object.fromEntries(aliases) },
  });
  try {
    await measure(gateway.port, gateway.key);
    const quiet = await measure(gateway.port, gateway.key);
    const waiting = Array.from({ length: Number(options.waiting) }, (_, index) =>
      call(gateway.port, gateway.key, {
        'x-gateway-provider': 'openai',
        'x-gateway-provider-alias': slow[index % slow.length] ?? '',
      }),
    );
    const disturbed = await measure(gateway.port, gateway.key);
    console.log(describe('others, undisturbed', quiet));
    console.log(describe(`others, ${waiting.length} calls waiting for ${slow.length} slow name(s)`, disturbed));
    console.log(describe('the waiting calls', await Promise.all(waiting)));
    const asked = new Map<string, number>();
    for (const name of names.asked) asked.set(name, (asked.get(name) ?? 0) + 1);
    console.log(`questions to the name server: ${[...asked].map(([name, count]) => `${name} ${count}`).join(', ')}`);
  } finally {
    await gateway.stop();
    provider.close();
    names.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (options.help) console.log(USAGE);
else if (process.env[INSIDE] === undefined) process.exit(runInNamespace());
else await run();
