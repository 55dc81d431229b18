/**
 * `npm run clients:tls`: official clients of Node and Python against a gateway with TLS of its own, with certificates by
 * `tollgate tls init` and the variables that it prints. What is needed: ../README.md.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { makeDataDir, startGateway } from '../../test/gateway/start-gateway.ts';
import { startLiveProvider } from '../../test/gateway/start-live-provider.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const PACKAGES = ['openai', 'anthropic', 'google-genai', 'boto3', 'requests', 'httpx[http2]', 'httpx2[http2]'];

const { values: options } = parseArgs({ options: { python: { type: 'string', default: 'python3' } } });

/** Each `export NAME=value  # for what` that was printed. */
function readVariables(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^ {2}export (\w+)=(\S+)/gm)].map(([, name = '', value = '']) => [name, value]),
  );
}

/** What is missing, or null. */
async function findPythonFault(): Promise<string | null> {
  const modules = 'openai, anthropic, google.genai, boto3, requests, httpx, httpx2, h2';
  return run(options.python, ['-c', `import ${modules}`]).then(
    () => null,
    (error: Error) => error.message.trim().split('\n').at(-1) ?? '',
  );
}

const dataDir = makeDataDir();
const init = [join(root, 'src/main.ts'), 'tls', 'init', '--dir', join(dataDir, 'tls')];
const variables = readVariables((await run(process.execPath, init)).stdout);
const { TOLLGATE_TLS_CERT = '', TOLLGATE_TLS_KEY = '', ...trust } = variables;
const live = await startLiveProvider();
const gateway = await startGateway({
  dataDir,
  ca: readFileSync(trust['NODE_EXTRA_CA_CERTS'] ?? '', 'utf8'),
  args: ['--demo'],
  env: { TOLLGATE_TLS_CERT, TOLLGATE_TLS_KEY, TOLLGATE_UPSTREAM_GEMINI_LIVE: live.origin },
});
const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], BASE: gateway.base, KEY: gateway.key, ...trust };
try {
  const node = await run(process.execPath, [join(root, 'test/gateway/tls-clients.ts')], { env });
  process.stdout.write(`Node ${process.versions.node}: ${node.stdout}\n`);
  const fault = await findPythonFault();
  if (fault === null) {
    const python = await run(options.python, [join(import.meta.dirname, 'clients.py')], { env });
    process.stdout.write(`Python:\n${python.stdout}`);
  } else {
    const advice = `${options.python} -m pip install ${PACKAGES.map((name) => `'${name}'`).join(' ')}`;
    process.stdout.write(`Python was NOT tried: ${fault}. Install: ${advice}; or name another by --python PATH\n`);
    process.exitCode = 1;
  }
} finally {
  await gateway.stop();
  await live.close();
}
