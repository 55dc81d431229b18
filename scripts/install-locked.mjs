// `npm ci` in a folder, with its progress for a person who waits; a failure is one line that says what to do, and ends
// the process. Runs on the machine's own Node, so it uses only what Node 20 has.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createInstallProgress } from './install-progress.mjs';
import { explainNpmFailure } from './npm-failures.mjs';

/** How many of npm's own lines are kept; what it says of a failure is at the end. */
const MAX_KEPT_LINES = 40;

export function fail(text) {
  process.stderr.write(`Tollgate: ${text}\n`);
  process.exit(1);
}

function isForHere(wanted, here) {
  if (wanted === undefined) return true;
  const all = [wanted].flat();
  const named = all.filter((word) => !word.startsWith('!'));
  return !all.includes(`!${here}`) && (named.length === 0 || named.includes(here));
}

/** How many of these entries of a lock file npm will fetch for this platform. */
export function countPackages(entries) {
  const libc = process.report?.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  const here = Object.entries(entries).filter(
    ([path, { os, cpu, libc: wanted, inBundle }]) =>
      path !== '' &&
      inBundle !== true &&
      isForHere(os, process.platform) &&
      isForHere(cpu, process.arch) &&
      isForHere(wanted, libc),
  );
  return here.length;
}

/** `packages` is how many there are; `extra` are further arguments. */
export async function installLocked(folder, packages, extra = []) {
  const npm = process.env.npm_execpath;
  const node = process.env.npm_node_execpath ?? process.execPath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=http', '--no-progress', ...extra];
  const progress = createInstallProgress(process.stderr, packages);
  const child = spawn(...(npm === undefined ? ['npm', args] : [node, [npm, ...args]]), {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kept = [];
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    // Its warnings are of old Nodes and old packages, which are none of the operator's business.
    if (progress.take(line) || !/^npm (?:error|ERR!)/.test(line)) return;
    kept.push(line);
    if (kept.length > MAX_KEPT_LINES) kept.shift();
  });
  // Ctrl-C is for npm as well; this process ends with it, and says nothing.
  let isInterrupted = false;
  process.once('SIGINT', () => {
    isInterrupted = true;
  });
  const { status, code } = await new Promise((done) => {
    child.on('error', (error) => done({ status: null, code: error.code }));
    child.on('close', (ended) => done({ status: ended }));
  });
  progress.end(status === 0);
  if (status === 0) return;
  if (isInterrupted) process.exit(130);
  const output = kept.join('\n');
  const why = explainNpmFailure(output, code);
  if (why !== null) fail(`installing failed: ${why}.${describeCause(kept)}`);
  process.stderr.write(`${output}\n`);
  fail('installing failed; the lines above are from npm.');
}

/** npm's own words for it, the one line that says most. */
function describeCause(lines) {
  const texts = lines.map((line) => line.replace(/^npm (?:error|ERR!)\s*/, ''));
  const found = texts.find((text) => text !== '' && !/^(?:code|errno|syscall|path|A complete log|cwd)\b/.test(text));
  return found === undefined ? '' : ` (npm: ${found})`;
}
