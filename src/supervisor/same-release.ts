/** Whether processes of the installed version can run under this supervisor. */
import { OperatorError } from '../vocabulary/errors.ts';

function releaseOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

/** Throws unless only the last number differs: another release may have settings that this supervisor has not read. */
export function refuseOtherRelease(running: string, installed: string): void {
  if (releaseOf(running) === releaseOf(installed)) return;
  throw new OperatorError(`version ${installed} is installed and ${running} runs: stop the gateway and start it again`);
}
