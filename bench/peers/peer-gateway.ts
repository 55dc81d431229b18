/** A gateway that is measured: how it is asked, its processes, and what it keeps of a call. Starting each: `start-*.ts`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAnswered, waitFor } from '../proxy/peer.ts';
import { listDescendants } from '../proxy/process-figures.ts';
import { PROXY_CORE, place, stopChild } from '../proxy/programs.ts';
import type { AskedWay } from '../proxy/variants.ts';

export interface PeerGateway {
  readonly name: string;
  readonly version: string;
  readonly keeps: string;
  readonly jsonPort: number;
  readonly ssePort: number;
  readonly gatewayKey: string;
  readonly asked?: AskedWay;
  /** The processes that carry calls; read anew each time, since some come and go. */
  readonly proxyPids: () => readonly number[];
  /** All processes of it. */
  readonly allPids: () => readonly number[];
  /** Puts each process where the saturated rounds want it. */
  readonly pin: () => void;
  readonly stop: () => Promise<void>;
}

/** `start` takes an empty directory and the provider's port. */
export interface PeerKind {
  readonly name: string;
  /** Null: it was found. Otherwise what is missing, and how to name it. */
  readonly missing: string | null;
  readonly start: (directory: string, providerPort: number) => Promise<PeerGateway>;
}

export interface LaunchOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a program and waits until its port answers; its words go to a file. */
export async function launch({ command, args, directory, port, env = {} }: LaunchOptions): Promise<ChildProcess> {
  const words = join(directory, 'output.log');
  const file = openSync(words, 'a', 0o600);
  const child = spawn(command, args, {
    cwd: directory,
    stdio: ['ignore', file, file],
    env: { ...process.env, ...env },
  });
  let failure: Error | null = null;
  child.once('error', (error) => {
    failure = error;
  });
  try {
    await waitFor(command, () => {
      if (failure !== null) throw failure;
      if (child.exitCode !== null)
        throw new Error(`${command} ended with ${child.exitCode}: ${readFileSync(words, 'utf8').slice(-2_000)}`);
      return isAnswered(`http://127.0.0.1:${port}/`);
    });
  } catch (error) {
    await stopChild(child);
    throw error;
  }
  return child;
}

type Told = Pick<PeerGateway, 'name' | 'version' | 'keeps'> & { readonly port: number; readonly asked: AskedWay };

/** For a gateway whose processes all carry calls. */
export function ofOneKind(child: ChildProcess, { port, ...told }: Told): PeerGateway {
  const pids = () => [child.pid ?? 0, ...listDescendants(child.pid ?? 0)];
  return {
    ...told,
    jsonPort: port,
    ssePort: port,
    gatewayKey: '',
    proxyPids: pids,
    allPids: pids,
    pin: () => place(pids(), PROXY_CORE),
    stop: () => stopChild(child),
  };
}
