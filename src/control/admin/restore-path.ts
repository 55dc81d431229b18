/** An upload of any length. */
export const RESTORE_PATH = '/api/v1/restore';
