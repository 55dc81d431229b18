/** A long answer of the gateway, to the terminal or into a file. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from '../vocabulary/errors.ts';
import { isBrokenOff } from './gateway-client.ts';

export async function copyBody(response: Response, target: Writable): Promise<void> {
  if (response.body === null) throw new OperatorError('the gateway sent no rows');
  try {
    await pipeline(Readable.fromWeb(response.body), target);
  } catch (cause) {
    // A reader that closed its end (`| head`) has what it wanted.
    if (cause instanceof Error && 'code' in cause && cause.code === 'EPIPE') return;
    if (!isBrokenOff(cause)) throw cause;
    throw new OperatorError("the export broke off and is not whole; the gateway's log says why", { cause });
  }
}

/** Written under another name until whole, so that half an export is never mistaken for one. */
export async function copyToFile(response: Response, path: string): Promise<void> {
  const partial = `${path}.${randomUUID().slice(0, 8)}.partial`;
  try {
    await copyBody(response, createWriteStream(partial, { flags: 'wx', mode: 0o600 }));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    if (error instanceof OperatorError || !(error instanceof Error && 'code' in error)) throw error;
    throw new OperatorError(`--output: cannot write ${path}: ${error.message}`, { cause: error });
  }
}
