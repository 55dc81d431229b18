/** Reads the files of `tollgate reconcile` within a limit; `-` is standard input. */
import { createReadStream } from 'node:fs';
import { messageOf, OperatorError } from '../../vocabulary/errors.ts';
import type { ReportText } from './report/collect-report.ts';

/** For all files; a large organization's month by project and model is a few megabytes. */
export const MAX_REPORT_BYTES = 64 * 1024 * 1024;

export async function readWithin(
  stream: AsyncIterable<Uint8Array | string>,
  leftBytes: number,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const piece = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    bytes += piece.length;
    if (bytes > leftBytes) return null;
    chunks.push(piece);
  }
  return Buffer.concat(chunks);
}

async function readOne(path: string, leftBytes: number): Promise<Buffer> {
  let bytes: Buffer | null;
  try {
    bytes = await readWithin(path === '-' ? process.stdin : createReadStream(path), leftBytes);
  } catch (cause) {
    throw new OperatorError(`--file: cannot read ${path} (${messageOf(cause)})`, { cause });
  }
  if (bytes === null)
    throw new OperatorError(
      `--file: with ${path} the reports are larger than ${MAX_REPORT_BYTES / 1024 / 1024} MiB; compare a shorter time`,
    );
  return bytes;
}

export async function readReportFiles(paths: readonly string[]): Promise<readonly ReportText[]> {
  const texts: ReportText[] = [];
  let leftBytes = MAX_REPORT_BYTES;
  for (const path of paths) {
    const bytes = await readOne(path, leftBytes);
    leftBytes -= bytes.length;
    texts.push({ name: path === '-' ? 'the standard input' : path, text: bytes.toString('utf8') });
  }
  return texts;
}
