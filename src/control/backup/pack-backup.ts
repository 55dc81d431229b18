/**
 * Packs a backup with zstd and unpacks it, in bounded memory. The SHA-256 of the packed bytes follows in a skippable
 * frame, so that `zstd -d` reads the file too.
 */
import { createHash, type Hash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { BackupError, damaged } from './backup-error.ts';

/** Higher levels cost more time than they save space. */
const LEVEL = 3;
/** 8 MiB, enough for our files; bounds what a foreign file can make us allocate. */
const MAX_WINDOW_LOG = 23;
/** A skippable frame of 32 bytes: https://www.rfc-editor.org/rfc/rfc8878#section-3.1.2 */
const DIGEST_HEAD = Buffer.from('5e2a4d1820000000', 'hex');
const DIGEST_FRAME_BYTES = DIGEST_HEAD.length + 32;

/** Hands on each piece before making the next. */
function readableOf(source: AsyncIterable<Uint8Array>): Readable {
  return Readable.from(source, { objectMode: true, highWaterMark: 1 });
}

function digestFrame(hash: Hash): Buffer {
  return Buffer.concat([DIGEST_HEAD, hash.digest()]);
}

export async function* packBackup(plain: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const zstd = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
  // The reader of the stream gets the failure.
  pipeline(readableOf(plain), zstd, () => {});
  const hash = createHash('sha256');
  for await (const chunk of zstd) {
    hash.update(chunk);
    yield chunk;
  }
  yield digestFrame(hash);
}

/** Throws failures of `packed` unchanged, and a BackupError for faulty content. */
export async function* unpackBackup(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const zstd = createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } });
  let isWhole = false;
  const checked = withoutDigest(packed, (matches) => {
    isWhole = matches;
  });
  pipeline(readableOf(checked), zstd, () => {});
  let isBegun = false;
  try {
    for await (const chunk of zstd) {
      isBegun = true;
      yield chunk;
    }
  } catch (error) {
    throw isBegun ? explain(error) : explainStart(error);
  }
  // The decompressor accepts some cuts and changes that lose no content.
  if (!isWhole) throw damaged('it is cut, or was changed');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function explain(error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'Z_BUF_ERROR') return damaged('it ends too early', error);
  return /^ZSTD_|^Z_/.test(code) ? damaged('it cannot be unpacked', error) : error;
}

function explainStart(error: unknown): unknown {
  if (codeOf(error) !== 'ZSTD_error_prefix_unknown') return explain(error);
  return new BackupError('not_a_backup', 'The file is not a backup of Tollgate.', { cause: error });
}

/** Yields everything but the digest, then returns whether that is right. */
async function* withoutDigest(
  packed: AsyncIterable<Uint8Array>,
  onEnd: (matches: boolean) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of packed) {
    const all = Buffer.concat([held, chunk]);
    const known = all.subarray(0, Math.max(0, all.length - DIGEST_FRAME_BYTES));
    held = all.subarray(known.length);
    if (known.length === 0) continue;
    hash.update(known);
    yield known;
  }
  const matches = digestFrame(hash).equals(held);
  // A file too short for a digest is judged by its beginning.
  if (!matches && held.length > 0) yield held;
  onEnd(matches);
}
