/** Where a backup is put back: an upload of any length. */
export const RESTORE_PATH = '/api/v1/restore';
