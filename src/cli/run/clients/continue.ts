/** Continue has addresses in a file, of which an argument can name another. */
import { continueCli as lasting } from '../../setup/clients/continue.ts';
import { addEditedCopy } from '../edited-copy.ts';
import type { RunClient } from './run-client.ts';

export const continueCli: RunClient = {
  programs: ['cn'],
  packageName: '@continuedev/cli',
  add: (place) =>
    place.args.some((argument) => /^--config(?:=|$)/.test(argument))
      ? {}
      : addEditedCopy(lasting, place, (path) => ({ args: ['--config', path] })),
};
