/** Keeps the sealed credentials for a start without a database. What is in the file does not open them. */
import type { Logger } from 'pino';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../vocabulary/call-record.ts';
import type { SealedCredential } from '../vocabulary/channel.ts';
import { readJsonFile, writePrivateFile } from './private-file.ts';

const Credentials = z.array(
  z.object({
    accountId: z.number(),
    provider: z.enum(PROVIDER_NAMES),
    alias: z.string(),
    origin: z.string(),
    keyName: z.string(),
    wrappedKey: z.string(),
    sealed: z.string(),
  }),
);

/** Empty where the file is missing or damaged; the database says it anew. */
export function readCredentialsFile(path: string): readonly SealedCredential[] {
  return Credentials.safeParse(readJsonFile(path)).data ?? [];
}

export function keepCredentialsFile(path: string, credentials: readonly SealedCredential[], log: Logger): void {
  try {
    writePrivateFile(path, `${JSON.stringify(credentials)}\n`);
  } catch (error) {
    log.warn({ err: error }, 'the sealed credentials could not be noted for the next start');
  }
}
