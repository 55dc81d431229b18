/** Whether processes of the installed version can work under a running supervisor, which keeps its settings and messages. */
import { OperatorError } from '../errors.ts';

function releaseOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

/** Throws when they differ in more than the last number: a new release may have settings that this supervisor has not read. */
export function refuseOtherRelease(running: string, installed: string): void {
  if (releaseOf(running) === releaseOf(installed)) return;
  throw new OperatorError(`version ${installed} is installed and ${running} runs: stop the gateway and start it again`);
}
