/** How much waits in the spool, as the API shows it. */
import type { SpoolStatus } from '../admin/admin-deps.ts';
import { defaultMaxBytes, readSpace } from '../spool/spool-space.ts';

/** Null when the folder cannot be read. */
export async function readSpoolStatus(spoolDir: string): Promise<SpoolStatus | null> {
  try {
    const { bytes, isDiskLow } = await readSpace(spoolDir);
    return { bytes, limitBytes: defaultMaxBytes(spoolDir), isDiskLow };
  } catch {
    // The answer to the question.
    return null;
  }
}
