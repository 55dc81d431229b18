/**
 * `tollgate backup`: the gateway's whole database as one file, read whole and checked while it is written; and what is in
 * such a file, without a gateway.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { BackupError } from '../../backup/backup-error.ts';
import { type BackupContent, describeBackup } from '../../backup/describe-backup.ts';
import { OperatorError } from '../../errors.ts';
import { type ClientFlags, createGatewayClient } from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { backupJson, describeLeft, formatContent } from './format-backup.ts';
import { readBackupFile } from './read-backup-file.ts';
import { createTicker } from './ticker.ts';

interface BackupFlags extends ClientFlags {
  readonly json?: true;
  readonly force?: true;
  readonly check?: true;
}

const STDOUT = '-';

function isBrokenOff(error: unknown): boolean {
  // What `fetch` throws when the connection ends before the answer does.
  return error instanceof TypeError || (error instanceof Error && 'code' in error && error.code === 'UND_ERR_SOCKET');
}

function toOperatorError(error: unknown, path: string): unknown {
  if (isBrokenOff(error))
    return new OperatorError("the backup broke off and is not whole; the gateway's log says why", { cause: error });
  if (error instanceof BackupError) return new OperatorError(`${path}: ${error.message}`, { cause: error });
  if (error instanceof OperatorError || !(error instanceof Error && 'code' in error)) return error;
  return new OperatorError(`cannot write ${path}: ${error.message}`, { cause: error });
}

/** Writes what comes and reads it at the same time, so that what is written is known to be whole. */
async function copyAndRead(packed: Readable, target: Writable): Promise<BackupContent> {
  const ticker = createTicker(process.stderr);
  const copy = new PassThrough();
  const reading = describeBackup(copy, ticker.show);
  // A failure of either ends the other; whoever fails first says why.
  reading.catch((error: Error) => packed.destroy(error));
  try {
    const writing = pipeline(
      packed,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          if (!copy.write(chunk)) await Promise.race([new Promise((resolve) => copy.once('drain', resolve)), reading]);
          yield chunk;
        }
        copy.end();
      },
      target,
    );
    await writing.catch((error: Error) => {
      copy.destroy(error);
      throw error;
    });
    return await reading;
  } finally {
    ticker.clear();
  }
}

async function writeBackupTo(path: string, flags: BackupFlags): Promise<BackupContent> {
  const client = createGatewayClient(flags, process.env);
  // Before the gateway works for nothing.
  if (path !== STDOUT && flags.force !== true && existsSync(path))
    throw new OperatorError(`${path} exists already; give another name, or --force to replace it`);
  const response = await client.open('/api/v1/backup', {}, new AbortController().signal);
  if (response.body === null) throw new OperatorError('the gateway sent no backup');
  const packed = Readable.fromWeb(response.body);
  if (path === STDOUT)
    return copyAndRead(packed, process.stdout).catch((error: unknown) => {
      throw toOperatorError(error, 'standard output');
    });
  const partial = `${path}.part`;
  try {
    await rm(partial, { force: true });
    const content = await copyAndRead(packed, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }));
    await rename(partial, path);
    return content;
  } catch (error) {
    await rm(partial, { force: true });
    throw toOperatorError(error, path);
  }
}

function check(path: string): Promise<BackupContent> {
  return readBackupFile(path, path === STDOUT ? process.stdin : createReadStream(path));
}

async function runBackup(path: string, flags: BackupFlags): Promise<void> {
  const content = flags.check ? await check(path) : await writeBackupTo(path, flags);
  const left = describeLeft(content);
  if (left !== null) process.stderr.write(`${left}\n`);
  // The file itself is on standard output then.
  const output = createOutput(path === STDOUT && !flags.check ? process.stderr : process.stdout);
  if (flags.json) return output.json(backupJson(path, content));
  for (const line of formatContent(path, content)) await output.line(line);
}

export function addBackupCommand(program: Command, addClientOptions: (command: Command) => Command): void {
  addClientOptions(program.command('backup'))
    .description(
      'the whole database as one file: calls and their bodies, runs, prices, digests of keys. Keep it as you keep the database',
    )
    .argument('<file>', 'where to; - for standard output. It appears when it is whole, for you alone (mode 0600)')
    .option('--force', 'replace the file if it exists')
    .option('--check', 'read such a file whole and say what is in it; needs no gateway')
    .addHelpText(
      'after',
      '\nThe file holds the bodies of calls as they were, and can be restored by anybody who can read it.\n\nExamples:\n  tollgate backup november.backup\n  tollgate backup --check november.backup\n  tollgate backup - | ssh safe "cat > november.backup"',
    )
    .action((path: string, flags: BackupFlags) => runBackup(path, flags));
}
