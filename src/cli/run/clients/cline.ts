/** Cline has addresses in a file, of which a variable can name another. */
import { cline as lasting } from '../../setup/clients/cline.ts';
import { addEditedCopy } from '../edited-copy.ts';
import type { RunClient } from './run-client.ts';

const FILE_VARIABLE = 'CLINE_PROVIDER_SETTINGS_PATH';

export const cline: RunClient = {
  programs: ['cline'],
  add: (place) =>
    place.env[FILE_VARIABLE] === undefined
      ? addEditedCopy(lasting, place, (path) => ({ env: { [FILE_VARIABLE]: path } }))
      : {},
};
