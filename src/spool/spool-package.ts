/** A lost node's spool as one stream: a JSON line of its files, their bytes, and a line that confirms the whole. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { FoundProcess } from './inspect-spool.ts';

/** Limit of the first line. */
export const MAX_LIST_BYTES = 4 * 1024 * 1024;
export const LAST_LINE = 'whole\n';

export const PackageList = z.object({
  format: z.literal('tollgate spool'),
  version: z.literal(1),
  processes: z
    .array(
      z.object({
        /** A portable folder name without a path. */
        name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,199}$/),
        files: z.array(
          z.object({
            name: z.string().regex(/^(?:seg-\d{8,15}\.log|cursor\.json|losses\.bin)$/),
            bytes: z.number().int().nonnegative(),
          }),
        ),
      }),
    )
    .min(1),
});
export type PackageList = z.infer<typeof PackageList>;

function listPackage(processes: readonly FoundProcess[]): PackageList {
  return {
    format: 'tollgate spool',
    version: 1,
    processes: processes.map(({ name, files }) => ({
      name,
      files: files.map((file) => ({ name: file.name, bytes: file.bytes })),
    })),
  };
}

/** Throws when a file has become shorter, and what `confirm` throws, which is called before the last line. */
export async function* packSpool(
  processes: readonly FoundProcess[],
  confirm: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(listPackage(processes))}\n`);
  for (const { dir, files } of processes) {
    for (const { name, bytes } of files) {
      if (bytes === 0) continue;
      let sent = 0;
      for await (const chunk of createReadStream(join(dir, name), { end: bytes - 1 })) {
        const read = Buffer.from(chunk);
        sent += read.length;
        yield read;
      }
      if (sent < bytes) throw new Error(`${join(dir, name)} has become shorter`);
    }
  }
  await confirm();
  yield Buffer.from(LAST_LINE);
}
