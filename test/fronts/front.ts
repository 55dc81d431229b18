/** What the tests need to know of a reverse proxy in front of the gateway, and how one is started on a file of deploy/front. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../gateway/start-gateway.ts';
import type { HttpVersion } from './open-call.ts';

export const GATEWAY_NAME = 'gateway.example.com';
export const DASHBOARD_NAME = 'dashboard.gateway.example.com';

/** The ports of this machine in place of those in the file. */
export interface FrontPorts {
  readonly port: number;
  /** The nodes' proxy ports. */
  readonly nodes: readonly number[];
  /** The admin port that the dashboard is on. */
  readonly dashboard: number;
}

export interface FrontKind {
  readonly name: 'nginx' | 'Caddy' | 'HAProxy';
  readonly program: string;
  readonly versionArgument: string;
  /** What the file offers to clients. */
  readonly versions: readonly HttpVersion[];
  /** Where Debian has it. */
  readonly debianPackage: string;
  /** Writes the configuration into `dir`; the command that judges it and the one that runs it in the foreground. */
  readonly prepare: (dir: string, ports: FrontPorts) => { readonly check: Command; readonly run: Command };
}

export type Command = readonly [program: string, ...args: string[]];

export interface Front {
  readonly name: FrontKind['name'];
  readonly port: number;
  /** What it printed, and what it wrote into `*.log` in its folder. */
  readonly logs: () => string;
  readonly stop: () => Promise<void>;
}

export function isInstalled({ program, versionArgument }: FrontKind): boolean {
  return spawnSync(program, [versionArgument], { stdio: 'ignore' }).error === undefined;
}

/** The file as it is shipped, with each text replaced. A text that is not in it fails: the file is no longer what is tested. */
export function readShipped(name: string, replacements: readonly (readonly [string, string])[]): string {
  const shipped = readFileSync(join(import.meta.dirname, '..', '..', 'deploy', 'front', name), 'utf8');
  return replacements.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`deploy/front/${name} has no ${JSON.stringify(from)}`);
    return text.replaceAll(from, to);
  }, shipped);
}

/** What the program says of the file before it runs it; throws when it refuses. */
export function checkFront(kind: FrontKind, ports: FrontPorts): void {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-front-'));
  const [program, ...args] = kind.prepare(dir, ports).check;
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', env: frontEnv(dir) });
  rmSync(dir, { recursive: true });
  if (status !== 0) throw new Error(`${kind.name} refuses its configuration:\n${stderr}`);
}

/** Caddy keeps its authority in the home of its user. */
function frontEnv(dir: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: dir };
}

function isListening(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(undefined));
  });
}

export async function startFront(kind: FrontKind, ports: FrontPorts): Promise<Front> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-front-'));
  const [program, ...args] = kind.prepare(dir, ports).run;
  let output = '';
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: frontEnv(dir) });
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await waitUntil(`${kind.name} listens`, () => {
    if (child.exitCode !== null) throw new Error(`${kind.name} ended:\n${output}`);
    return isListening(ports.port);
  });
  return {
    name: kind.name,
    port: ports.port,
    logs: () => output + readLogFiles(dir),
    stop: async () => {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(force);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function readLogFiles(dir: string): string {
  try {
    return ['tollgate.log', 'error.log'].map((name) => readFileSync(join(dir, name), 'utf8')).join('');
  } catch {
    return '';
  }
}
