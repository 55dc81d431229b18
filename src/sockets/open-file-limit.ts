/** Reads how many files this process may open, and derives how many client connections that allows. */

/** Spool, log, channel, name look-ups, and what libraries open. */
const RESERVED_FILES = 128;
/** One to the client and one to the provider. */
const FILES_A_CALL = 2;
/** Memory limits as well, at tens of kilobytes for each. */
const MOST_CONNECTIONS = 20_000;
const FEWEST_CONNECTIONS = 16;

/** Null where the system sets no limit or reports none. */
export function readOpenFileLimit(): number | null {
  const { report } = process;
  // The network part of a report would look up names.
  Reflect.set(report, 'excludeNetwork', true);
  Reflect.set(report, 'excludeEnv', true);
  const limits: unknown = Reflect.get(report.getReport(), 'userLimits');
  const openFiles: unknown = isObject(limits) ? limits['open_files'] : null;
  const soft: unknown = isObject(openFiles) ? openFiles['soft'] : null;
  return typeof soft === 'number' && soft > 0 ? soft : null;
}

/** Client connections; as many again may lead to providers. */
export function countConnections(openFiles: number | null): number {
  if (openFiles === null) return MOST_CONNECTIONS;
  const affordable = Math.floor((openFiles - RESERVED_FILES) / FILES_A_CALL);
  return Math.max(FEWEST_CONNECTIONS, Math.min(affordable, MOST_CONNECTIONS));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
