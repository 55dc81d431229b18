/** Reads and checks a whole backup before anything is done with it, showing progress. */
import type { Readable } from 'node:stream';
import { BackupError } from '../../control/backup/backup-error.ts';
import { type BackupContent, describeBackup } from '../../control/backup/describe-backup.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { createTicker } from './ticker.ts';

/** `path` is for messages. Throws an OperatorError for a damaged or unreadable file. */
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
