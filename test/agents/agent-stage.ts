/** Homes, a repository with a branch, and a gateway for programs that are started as their users start them. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { asRecord, type TestGateway } from '../gateway/start-gateway.ts';
import { endLeftovers } from '../support/end-leftovers.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const LIMIT_MS = 300_000;
const ROWS_READ = 100;

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface AgentStage {
  readonly home: string;
  readonly start: (command: string, args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>;
  readonly tollgate: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<Ended>;
  readonly remove: () => void;
}

/** What each provider's SDK wants to see, and no program may call its maker. */
const PROGRAM_ENV = {
  ANTHROPIC_API_KEY: 'placeholder',
  OPENAI_API_KEY: 'placeholder',
  GEMINI_API_KEY: 'placeholder',
  TOGETHER_API_KEY: 'placeholder',
  FIREWORKS_API_KEY: 'placeholder',
  DEEPSEEK_API_KEY: 'placeholder',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_TELEMETRY: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  PI_OFFLINE: '1',
  DO_NOT_TRACK: '1',
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
};

function git(cwd: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): void {
  execFileSync('git', [...args], { cwd, env: { ...process.env, ...env }, stdio: 'ignore' });
}

/** In a home of its own: Gemini CLI reads no settings below a folder that everyone can write to, such as /tmp. */
export function createAgentStage(
  gateway: TestGateway,
  programs: string,
  files: Readonly<Record<string, string>>,
): AgentStage {
  const home = mkdtempSync(join(homedir(), '.tollgate-agents-'));
  const repository = join(home, 'shop');
  mkdirSync(repository);
  const env = { HOME: home, GIT_CONFIG_NOSYSTEM: '1' };
  git(repository, env, 'init', '-q', '-b', 'feature/checkout');
  git(repository, env, 'config', 'user.email', 'ada@example.com');
  git(repository, env, 'config', 'user.name', 'Ada');
  git(repository, env, 'remote', 'add', 'origin', 'https://ada:secret@git.example.com/team/shop.git');
  git(repository, env, 'commit', '-q', '--allow-empty', '-m', 'first');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const start: AgentStage['start'] = (command, args, added = {}) =>
    new Promise((resolve) => {
      // The agents with the Node of this machine: not every one runs with the newest.
      const path = [programs, process.env['PATH'], dirname(process.execPath)].join(':');
      const child = spawn(command, [...args], {
        cwd: repository,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: LIMIT_MS,
        env: {
          ...env,
          ...PROGRAM_ENV,
          PATH: path,
          NO_PROXY: '127.0.0.1',
          TOLLGATE_DATA_DIR: gateway.dataDir,
          ...added,
        },
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.once('error', (error) => resolve({ status: null, stdout, stderr: String(error) }));
      // Not `close`: Cline leaves a process behind that holds the pipes.
      child.once('exit', (status) => resolve({ status, stdout, stderr }));
    });
  return {
    home,
    start,
    tollgate: (args, added) => start(process.execPath, [MAIN, ...args], added),
    remove: () => {
      endLeftovers(home);
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Calls of a key or of a run, once none is open. */
export async function readCalls(gateway: TestGateway, filter: string): Promise<readonly Record<string, unknown>[]> {
  const query = new URLSearchParams({ f: filter, limit: String(ROWS_READ) });
  const { data } = asRecord(await gateway.api(`/api/v1/logs?${query}`));
  return Array.isArray(data) ? data.map(asRecord) : [];
}
