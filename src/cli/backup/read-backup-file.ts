/** Reads a backup whole, showing how far it is: what is wrong with it is said before anything is done with it. */
import type { Readable } from 'node:stream';
import { BackupError } from '../../backup/backup-error.ts';
import { type BackupContent, describeBackup } from '../../backup/describe-backup.ts';
import { OperatorError } from '../../errors.ts';
import { createTicker } from './ticker.ts';

/** `path` is how the user named it. Throws an OperatorError for a file that cannot be read or is damaged. */
export async function readBackupFile(path: string, file: Readable): Promise<BackupContent> {
  const ticker = createTicker(process.stderr);
  try {
    return await describeBackup(file, ticker.show);
  } catch (error) {
    if (error instanceof BackupError) throw new OperatorError(`${path}: ${error.message}`, { cause: error });
    if (error instanceof Error && 'code' in error)
      throw new OperatorError(`cannot read ${path}: ${error.message}`, { cause: error });
    throw error;
  } finally {
    ticker.clear();
  }
}
