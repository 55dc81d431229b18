/** What the admin API is given where a test makes no backup. */
import type { BackupsDep } from '../../src/control/admin/admin-deps.ts';

export const NO_BACKUPS: BackupsDep = {
  open: () => {
    throw new Error('no backup is made here');
  },
  restore: () => Promise.reject(new Error('nothing is restored here')),
};
