/** What of the gateway's state needs someone's attention, in words that say what to do. */
import type { Status } from '../../../../src/admin/system-resource.ts';

export function findProblems(status: Status): readonly string[] {
  const problems: string[] = [];
  if (status.database.state === 'down')
    problems.push('The database does not answer. Calls go on, their records wait in the spool and are stored later.');
  for (const { role, state, last_exit } of status.processes)
    if (state === 'restarting')
      problems.push(`A ${role} process is being started again (${last_exit ?? 'it ended'}); see the gateway's log.`);
  const lost = status.processes.reduce((sum, { metrics }) => sum + (metrics?.records_lost ?? 0), 0);
  if (lost > 0) problems.push(`${lost} records could not be written to the spool. Is the disk full?`);
  if (status.spool?.is_disk_low === true)
    problems.push('The disk of the data directory is nearly full: bodies are dropped first, then records.');
  const quarantined = status.records?.quarantined ?? 0;
  if (quarantined > 0)
    problems.push(`${quarantined} records were refused by the database and put aside in the data directory.`);
  return problems;
}
