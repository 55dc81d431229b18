/** The file system calls of the spool's writers, as an argument so that tests can make them fail. */
import {
  close,
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
  write,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';

const openFile = promisify(open);
const writeFile = promisify(write);
const syncFile = promisify(fdatasync);
const closeFile = promisify(close);

const ZEROS_BYTES = 1024 * 1024;

export type FileDone = (error: Error | null) => void;

export interface SpoolFiles {
  /** With parents, mode 0700; does nothing when it exists. */
  readonly makeDirectory: (dir: string) => void;
  readonly listNames: (dir: string) => readonly string[];
  /** Creates a file for appending. */
  readonly createAppending: (path: string) => number;
  /** Creates a durable file of zeros, for writing in place; a failure leaves nothing. */
  readonly createFilled: (path: string, bytes: number) => Promise<number>;
  /** Opens a file for writing in place; null unless all its blocks are allocated. */
  readonly openFilled: (path: string) => { readonly fd: number; readonly bytes: number } | null;
  /** Needs no descriptor, unlike `listNames`. */
  readonly isThere: (path: string) => boolean;
  readonly rename: (from: string, to: string) => void;
  readonly unlink: (path: string) => void;
  /** Returns the bytes written. `position` null appends. */
  readonly write: (fd: number, bytes: Buffer, position: number | null) => number;
  readonly writeInBackground: (fd: number, bytes: Buffer, done: (error: Error | null, count: number) => void) => void;
  readonly truncate: (fd: number, bytes: number) => void;
  /** fdatasync. */
  readonly sync: (fd: number, done: FileDone) => void;
  /** Makes new and removed names durable. */
  readonly syncDirectory: (dir: string, done: FileDone) => void;
  /** 0 for a removed file. */
  readonly countLinks: (fd: number) => number;
  readonly close: (fd: number, done: FileDone) => void;
  readonly closeAtOnce: (fd: number) => void;
}

const OWNER_ONLY = 0o600;
/** The unit of `blocks` in `stat`. */
const STAT_BLOCK_BYTES = 512;
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

export const NODE_FILES: SpoolFiles = {
  makeDirectory: (dir) => void mkdirSync(dir, { recursive: true, mode: 0o700 }),
  listNames: (dir) => readdirSync(dir),
  createAppending: (path) => openSync(path, NEW_FILE | constants.O_APPEND, OWNER_ONLY),
  createFilled,
  openFilled,
  isThere: (path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined,
  rename: renameSync,
  unlink: unlinkSync,
  write: (fd, bytes, position) => writeSync(fd, bytes, 0, bytes.length, position),
  writeInBackground: (fd, bytes, done) => write(fd, bytes, done),
  truncate: ftruncateSync,
  sync: fdatasync,
  syncDirectory: (dir, done) => {
    open(dir, 'r', (error, fd) => {
      if (error !== null) return done(error);
      fdatasync(fd, (syncError) => close(fd, (closeError) => done(syncError ?? closeError ?? null)));
    });
  },
  countLinks: (fd) => fstatSync(fd).nlink,
  close: (fd, done) => close(fd, (error) => done(error ?? null)),
  closeAtOnce: closeSync,
};

async function createFilled(path: string, bytes: number): Promise<number> {
  const fd = await openFile(path, NEW_FILE, OWNER_ONLY);
  try {
    const zeros = Buffer.alloc(Math.min(bytes, ZEROS_BYTES));
    for (let at = 0; at < bytes; ) {
      const { bytesWritten } = await writeFile(fd, zeros, 0, Math.min(zeros.length, bytes - at), at);
      if (bytesWritten === 0) throw new Error('no byte could be written');
      at += bytesWritten;
    }
    await syncFile(fd);
    return fd;
  } catch (error) {
    unlinkSync(path);
    await closeFile(fd);
    throw error;
  }
}

function openFilled(path: string): { readonly fd: number; readonly bytes: number } | null {
  const fd = openSync(path, constants.O_WRONLY);
  const { size, blocks } = fstatSync(fd);
  if (size > 0 && blocks * STAT_BLOCK_BYTES >= size) return { fd, bytes: size };
  closeSync(fd);
  return null;
}
