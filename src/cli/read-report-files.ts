/** The files of `tollgate reconcile`, read whole within a limit; `-` is the standard input. */
import { closeSync, openSync, readSync } from 'node:fs';
import { OperatorError } from '../errors.ts';
import type { ReportText } from '../reconcile/collect-report.ts';

/** Of all files together; a month of a large organization by project and model is a few megabytes. */
export const MAX_REPORT_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

function readWithin(descriptor: number, leftBytes: number): Buffer | null {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for (;;) {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const read = readSync(descriptor, chunk);
    if (read === 0) return Buffer.concat(chunks);
    bytes += read;
    if (bytes > leftBytes) return null;
    chunks.push(chunk.subarray(0, read));
  }
}

function readOne(path: string, leftBytes: number): Buffer {
  let bytes: Buffer | null;
  try {
    const descriptor = path === '-' ? 0 : openSync(path, 'r');
    try {
      bytes = readWithin(descriptor, leftBytes);
    } finally {
      if (descriptor !== 0) closeSync(descriptor);
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new OperatorError(`--file: cannot read ${path} (${reason})`, { cause });
  }
  if (bytes === null)
    throw new OperatorError(
      `--file: with ${path} the reports are larger than ${MAX_REPORT_BYTES / 1024 / 1024} MiB; compare a shorter time`,
    );
  return bytes;
}

export function readReportFiles(paths: readonly string[]): readonly ReportText[] {
  let leftBytes = MAX_REPORT_BYTES;
  return paths.map((path) => {
    const bytes = readOne(path, leftBytes);
    leftBytes -= bytes.length;
    return { name: path === '-' ? 'the standard input' : path, text: bytes.toString('utf8') };
  });
}
