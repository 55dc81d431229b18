/**
 * How many files and sockets this process may have open, and how many connections of clients that allows. Only reads;
 * Node has raised the limit to what it may be when it started.
 */

/** Spool segments, log, channel, name look-ups, event loop, and what a library opens for a moment. */
const RESERVED_FILES = 128;
/** One to the client, one to the provider. */
const FILES_A_CALL = 2;
/** Where the system sets no limit, or a very high one: memory is one as well, at tens of kilobytes for each. */
const MOST_CONNECTIONS = 20_000;
const FEWEST_CONNECTIONS = 16;

/** Null where the system does not tell, or sets none. */
export function readOpenFileLimit(): number | null {
  const { report } = process;
  // Its list of network addresses would look up names, and nobody wants the environment.
  Reflect.set(report, 'excludeNetwork', true);
  Reflect.set(report, 'excludeEnv', true);
  const limits: unknown = Reflect.get(report.getReport(), 'userLimits');
  const openFiles: unknown = isObject(limits) ? limits['open_files'] : null;
  const soft: unknown = isObject(openFiles) ? openFiles['soft'] : null;
  return typeof soft === 'number' && soft > 0 ? soft : null;
}

/** Of clients, and as many again to providers. */
export function countConnections(openFiles: number | null): number {
  if (openFiles === null) return MOST_CONNECTIONS;
  const affordable = Math.floor((openFiles - RESERVED_FILES) / FILES_A_CALL);
  return Math.max(FEWEST_CONNECTIONS, Math.min(affordable, MOST_CONNECTIONS));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
