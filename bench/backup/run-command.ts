/** A command of the gateway under test as anybody would give it, and how long it takes. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestGateway } from '../../test/gateway/start-gateway.ts';
import { watchMemory } from '../reprice/watch-memory.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

export interface Measured {
  readonly seconds: number;
  readonly rows: number;
  /** Of the rows, unpacked. */
  readonly bytes: number;
  /** The most that the control process had, and what it had at the start. */
  readonly peakMb: number;
  readonly startMb: number;
}

export async function runCommand(gateway: TestGateway, args: readonly string[]): Promise<Measured> {
  const control = (await gateway.processes()).find(({ role }) => role === 'control');
  if (control?.pid == null) throw new Error('no control process');
  const memory = watchMemory(control.pid);
  const startedMs = performance.now();
  const output = await runToEnd([MAIN, ...args, '--json', '--data-dir', gateway.dataDir]);
  const seconds = (performance.now() - startedMs) / 1_000;
  const { peakMb, startMb } = memory.stop();
  const { rows, bytes }: { readonly rows: number; readonly bytes: number } = JSON.parse(output);
  return { seconds, rows, bytes, peakMb, startMb };
}

function runToEnd(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${args[1]} ended with ${code}`))));
  });
}
