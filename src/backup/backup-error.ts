/** What is wrong with a file, or with restoring it here, in words for the operator. */

export type BackupErrorCode =
  /** Another kind of file. */
  | 'not_a_backup'
  /** Cut, or changed since it was written. */
  | 'backup_damaged'
  /** Of a later release. */
  | 'backup_newer'
  /** Not of this product's schema as it was released. */
  | 'backup_foreign'
  /** The gateway has calls or declarations of its own. */
  | 'gateway_not_empty'
  /** Others use the log, and did not let go in time. */
  | 'log_in_use'
  /** The database refused what the file holds. */
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
