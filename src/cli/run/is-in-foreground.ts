/** Whether this process is in the foreground of a terminal, whose Ctrl-C then reaches every program there, however its input is. */
import { closeSync, openSync, readFileSync } from 'node:fs';

/** Of `/proc/self/stat`, behind the name, which may have anything in it: state, parent, group, session, terminal, its foreground group. */
const GROUP = 2;
const FOREGROUND_GROUP = 5;

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** It may change: a shell puts its jobs into the background and back. */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[GROUP] !== undefined && fields[GROUP] === fields[FOREGROUND_GROUP];
  } catch {
    // No Linux: a job in the background counts as in front.
    return hasTerminal();
  }
}
