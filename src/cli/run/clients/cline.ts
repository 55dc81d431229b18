/**
 * Cline has addresses in a file, of which a variable can name another. Its sessions may live in a daemon that other starts
 * share, whose calls would not be of this run: here each start has its own.
 */
import { cline as lasting } from '../../setup/clients/cline.ts';
import { addEditedCopy } from '../edited-copy.ts';
import type { RunClient } from './run-client.ts';

const FILE_VARIABLE = 'CLINE_PROVIDER_SETTINGS_PATH';
const OWN_SESSION = { CLINE_SESSION_BACKEND_MODE: 'local' };

export const cline: RunClient = {
  programs: ['cline'],
  packageName: 'cline',
  add: (place) =>
    place.env[FILE_VARIABLE] === undefined
      ? addEditedCopy(lasting, place, (path) => ({ env: { [FILE_VARIABLE]: path, ...OWN_SESSION } }))
      : {},
};
