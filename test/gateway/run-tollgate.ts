/** Runs a command of the command line to its end, as a user of a gateway on this machine does. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { COMPILE_CACHE } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runTollgate(dataDir: string, args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args, '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILE_CACHE },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}
