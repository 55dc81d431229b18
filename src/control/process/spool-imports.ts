/** Whether the spool of a node that is gone may be taken in, and how far it is. `receive-package.ts` reads it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { PackageError, receivePackage } from '../../spool/receive-package.ts';
import type { SpoolImportsDep } from '../admin/admin-deps.ts';
import { ApiError } from '../admin/api-error.ts';
import { findNodeOfProcesses, GONE_AFTER_SECONDS, listUnknownProcesses } from '../store/nodes.ts';

export interface SpoolImportsOptions {
  readonly importDir: string;
  readonly spoolDir: string;
  readonly pool: pg.Pool;
  readonly nodeId: string;
  readonly listLiveSpools: () => readonly string[];
  readonly onReceived: (names: readonly string[]) => void;
}

export function createSpoolImports(options: SpoolImportsOptions): SpoolImportsDep {
  const { importDir, spoolDir, pool, nodeId } = options;
  let isBusy = false;

  const isThere = (name: string): Promise<boolean> =>
    stat(join(spoolDir, name)).then(
      () => true,
      () => false,
    );

  /** A live process writes on: a part would be stored as the whole. */
  async function check(names: readonly string[]): Promise<void> {
    if (options.listLiveSpools().some((name) => names.includes(name)))
      throw new ApiError(409, 'node_lives', 'This is the spool of this gateway itself, which stores it already.');
    const node = await findNodeOfProcesses(pool, names, nodeId);
    if (node !== null)
      throw new ApiError(
        409,
        'node_lives',
        `This is the spool of the node ${node.slice(0, 200)}, which has given a sign of life within the last ${GONE_AFTER_SECONDS} s and stores it by itself.`,
      );
    for (const name of names)
      if (await isThere(name))
        throw new ApiError(409, 'import_running', `The spool has the directory ${name} already, and stores it.`);
  }

  return {
    receive: async (source) => {
      if (isBusy) throw new ApiError(409, 'import_running', 'Another spool is being taken in; wait for its end.');
      isBusy = true;
      try {
        const received = await receivePackage(source, { importDir, spoolDir, check });
        options.onReceived(received.names);
        return received;
      } catch (error) {
        if (error instanceof PackageError) throw new ApiError(400, 'package_refused', error.message, { cause: error });
        if (isDiskFull(error))
          throw new ApiError(
            503,
            'disk_full',
            'The disk of the data directory is full. Nothing was taken; make room, or import into another node.',
            { cause: error },
          );
        throw error;
      } finally {
        isBusy = false;
      }
    },
    findLiveNode: (names) => findNodeOfProcesses(pool, names, nodeId),
    listUnknown: (names, id) => listUnknownProcesses(pool, names, id),
    listWaiting: async (names) => {
      const waiting = await Promise.all(names.map(async (name) => ((await isThere(name)) ? [name] : [])));
      return waiting.flat();
    },
  };
}

function isDiskFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');
}
