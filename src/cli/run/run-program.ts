/** Runs a program as if nobody stood between it and the terminal: its input, output, signals and exit status. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Environment } from '../../vocabulary/config.ts';
import { isInForeground } from './is-in-foreground.ts';

/** As shells have them. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
const SIGNAL_BASE = 128;

/** A terminal sends these to the program itself, as a member of its group. */
const OF_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
/** A third one so soon is meant, whoever sent it: one that was sent to this process alone has not reached the program. Two are usual. */
const INSISTED = 3;
const INSISTED_MS = 2_000;
const PASSED_ON: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR2'];

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
}

/** The exit status; 128 and the signal's number for a program that a signal ended. */
export function runProgram({ file, args, env }: Program): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: 'inherit', env });
    const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
    let sentMs: readonly number[] = [];
    const passOnAlone = (signal: NodeJS.Signals) => {
      const nowMs = performance.now();
      sentMs = [...sentMs, nowMs].filter((atMs) => nowMs - atMs < INSISTED_MS);
      if (!isInForeground() || sentMs.length >= INSISTED) passOn(signal);
    };
    const handlers = [
      ...PASSED_ON.map((signal) => [signal, passOn] as const),
      ...OF_TERMINAL.map((signal) => [signal, passOnAlone] as const),
    ];
    for (const [signal, handler] of handlers) process.on(signal, handler);
    const settle = (status: number) => {
      for (const [signal, handler] of handlers) process.off(signal, handler);
      resolve(status);
    };
    child.once('error', (error) => {
      const code = 'code' in error ? error.code : null;
      const reason = code === 'ENOENT' ? 'command not found' : error.message;
      process.stderr.write(`tollgate: ${file}: ${reason}\n`);
      settle(code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE);
    });
    child.once('exit', (status, signal) => {
      settle(status ?? SIGNAL_BASE + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
