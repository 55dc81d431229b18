/** zstd around a backup, both ways, in bounded memory. */
import { pipeline, Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { BackupError, damaged } from './backup-error.ts';

/** Above it time grows faster than the file shrinks. */
const LEVEL = 3;
/** 8 MiB: more than our own files need, and the most that a foreign one may make us take. */
const MAX_WINDOW_LOG = 23;

/** Each frame is handed on before the next is made. */
function readableOf(source: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(source, { objectMode: true, highWaterMark: 1 });
}

export function packBackup(plain: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> & { destroy(): void } {
  const zstd = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  // Its failure comes out of the stream, to whoever reads that.
  pipeline(readableOf(plain), zstd, () => {});
  return zstd;
}

/** A failure of `packed` is thrown as it is, what is wrong with its content as a BackupError. */
export async function* unpackBackup(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const zstd = createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } });
  pipeline(readableOf(packed), zstd, () => {});
  let isBegun = false;
  try {
    for await (const chunk of zstd) {
      isBegun = true;
      yield chunk;
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'ZSTD_error_prefix_unknown' && !isBegun)
      throw new BackupError('not_a_backup', 'The file is not a backup of Tollgate.', { cause: error });
    if (code === 'Z_BUF_ERROR') throw damaged('it ends too early', error);
    if (code.startsWith('ZSTD_') || code.startsWith('Z_')) throw damaged('it cannot be unpacked', error);
    throw error;
  }
}
