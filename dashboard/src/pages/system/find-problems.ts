/** What of the gateway's state needs someone's attention, in words that say what to do. */
import type { Status } from '../../../../src/admin/system-resource.ts';

export function findProblems(status: Status): readonly string[] {
  const problems: string[] = [];
  if (status.database.state === 'down')
    problems.push('The database does not answer. Calls go on, their records wait in the spool and are stored later.');
  for (const { role, state, last_exit } of status.processes)
    if (state === 'restarting' || state === 'crash_loop')
      problems.push(`A ${role} process is being started again (${last_exit ?? 'it ended'}); see the gateway's log.`);
  const { accounts } = status;
  if (accounts === null) problems.push('The spool cannot be read, so nobody knows what waits in it.');
  if (accounts !== null && accounts.lost > 0)
    problems.push(`The records of ${accounts.lost} calls are lost. Is the disk of the data directory full?`);
  if (accounts !== null && accounts.difference > 0)
    problems.push(`${accounts.difference} calls have ended, and their records are nowhere to be found.`);
  if (status.spool?.is_disk_low === true)
    problems.push('The disk of the data directory is nearly full: bodies are dropped first, then records.');
  if (accounts !== null && accounts.set_aside > 0)
    problems.push(`${accounts.set_aside} records were refused by the database in every form and put aside: see below.`);
  return problems;
}
