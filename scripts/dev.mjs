// `npm run dev`: the gateway with its local fake provider, and the dashboard with hot reload in front of its API. Both
// end together. Arguments go to the gateway. Runs on the machine's own Node, so it uses only what Node 20 has.
import { spawn } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const VITE_PORT = 5173;
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const adminPort = process.env.TOLLGATE_ADMIN_PORT ?? '4142';
const adminOrigin = `http://127.0.0.1:${adminPort}`;
const devOrigin = `http://127.0.0.1:${VITE_PORT}`;

const gateway = spawn(process.execPath, [join(root, 'src/main.ts'), 'start', '--demo', ...process.argv.slice(2)], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
  // It has no terminal, but somebody waits.
  env: { TOLLGATE_STOP_DELAY_SECONDS: '0', ...process.env },
});
const vite = spawn(
  process.execPath,
  [
    join(root, 'node_modules/vite/bin/vite.js'),
    'dashboard',
    '--port',
    String(VITE_PORT),
    '--strictPort',
    '--clearScreen',
    'false',
  ],
  { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, TOLLGATE_ADMIN_ORIGIN: adminOrigin } },
);

// The link of the start signs in at the dashboard that reloads itself.
createInterface({ input: gateway.stdout }).on('line', (line) => {
  process.stdout.write(`${line.replace(`${adminOrigin}/login`, `${devOrigin}/login`)}\n`);
});

let isEnding = false;
function end(code) {
  if (isEnding) return;
  isEnding = true;
  process.exitCode = code;
  for (const child of [gateway, vite]) child.kill('SIGTERM');
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));
for (const child of [gateway, vite]) {
  child.on('error', () => end(1));
  child.on('exit', (code) => end(code ?? 1));
}
