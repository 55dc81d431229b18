/** `tollgate backup`: writes the whole database to one checked file, or checks such a file. */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { PassThrough, Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { BackupError } from '../../control/backup/backup-error.ts';
import { type BackupContent, describeBackup } from '../../control/backup/describe-backup.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { type ClientFlags, createGatewayClient, isBrokenOff } from '../gateway-client.ts';
import { createOutput } from '../output.ts';
import { backupJson, describeLeft, formatContent } from './format-backup.ts';
import { readBackupFile } from './read-backup-file.ts';
import { createTicker } from './ticker.ts';

interface BackupFlags extends ClientFlags {
  readonly force?: true;
  readonly check?: true;
}

const STDOUT = '-';

function toOperatorError(error: unknown, path: string): unknown {
  if (isBrokenOff(error))
    return new OperatorError("the backup broke off and is not whole; the gateway's log says why", { cause: error });
  if (error instanceof BackupError) return new OperatorError(`${path}: ${error.message}`, { cause: error });
  if (error instanceof OperatorError || !(error instanceof Error && 'code' in error)) return error;
  return new OperatorError(`cannot write ${path}: ${error.message}`, { cause: error });
}

/** Writes and checks the backup at the same time. */
async function copyAndRead(packed: Readable, target: Writable): Promise<BackupContent> {
  const ticker = createTicker(process.stderr);
  const copy = new PassThrough();
  const reading = describeBackup(copy, ticker.show);
  // A failure of either ends the other; the first one is reported.
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
  const client = createGatewayClient(flags);
  // Checked before the gateway does any work.
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
  // Standard output has the file itself then.
  const output = createOutput(path === STDOUT && !flags.check ? process.stderr : process.stdout);
  if (flags.json) return output.json(backupJson(path, content));
  await output.lines(formatContent(path, content));
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
