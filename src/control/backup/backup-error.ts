/** What is wrong with a backup file, or with restoring it here. */

export type BackupErrorCode =
  | 'not_a_backup'
  | 'backup_damaged'
  | 'backup_newer'
  /** Not of a released schema of this product. */
  | 'backup_foreign'
  | 'gateway_not_empty'
  /** Others did not release the log in time. */
  | 'log_in_use'
  | 'backup_refused';

export class BackupError extends Error {
  readonly code: BackupErrorCode;

  constructor(code: BackupErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
    this.code = code;
  }
}

export function damaged(what: string, cause?: unknown): BackupError {
  return new BackupError('backup_damaged', `The file is damaged: ${what}.`, { cause });
}
