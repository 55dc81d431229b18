/** The spool's calls on the file system, the real ones, of which chosen ones fail as a disk or a process table does. */
import { openSync } from 'node:fs';
import { NODE_FILES, type SpoolFiles } from '../../src/spool/spool-files.ts';

export type FaultCode = 'ENOSPC' | 'EIO' | 'EMFILE';

export function fault(code: FaultCode): Error {
  return Object.assign(new Error(`${code}: a fault made for a test`), { code });
}

export interface FaultyFiles {
  readonly files: SpoolFiles;
  /** Calls so far. */
  readonly calls: () => number;
  /** The calls of which `fails` says so fail from now on; a write among them leaves half of its bytes. */
  readonly failWhen: (code: FaultCode, fails: (call: number, name: keyof SpoolFiles) => boolean) => void;
}

export function createFaultyFiles(): FaultyFiles {
  let calls = 0;
  let code: FaultCode = 'EIO';
  let fails: (call: number, name: keyof SpoolFiles) => boolean = () => false;

  function failsNow(name: keyof SpoolFiles): boolean {
    calls += 1;
    return fails(calls, name);
  }

  function check(name: keyof SpoolFiles): void {
    if (failsNow(name)) throw fault(code);
  }

  const half = (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1);
  const files: SpoolFiles = {
    ...NODE_FILES,
    makeDirectory(dir) {
      check('makeDirectory');
      NODE_FILES.makeDirectory(dir);
    },
    listNames(dir) {
      check('listNames');
      return NODE_FILES.listNames(dir);
    },
    createAppending(path) {
      check('createAppending');
      return NODE_FILES.createAppending(path);
    },
    async createFilled(path, bytes) {
      check('createFilled');
      return NODE_FILES.createFilled(path, bytes);
    },
    isThere(path) {
      check('isThere');
      return NODE_FILES.isThere(path);
    },
    rename(from, to) {
      check('rename');
      NODE_FILES.rename(from, to);
    },
    write(fd, bytes, position) {
      if (!failsNow('write')) return NODE_FILES.write(fd, bytes, position);
      NODE_FILES.write(fd, half(bytes), position);
      throw fault(code);
    },
    writeInBackground(fd, bytes, done) {
      if (!failsNow('writeInBackground')) return NODE_FILES.writeInBackground(fd, bytes, done);
      NODE_FILES.writeInBackground(fd, half(bytes), () => done(fault(code), 0));
    },
    sync(fd, done) {
      if (failsNow('sync')) setImmediate(done, fault(code));
      else NODE_FILES.sync(fd, done);
    },
    syncDirectory(dir, done) {
      if (failsNow('syncDirectory')) setImmediate(done, fault(code));
      else NODE_FILES.syncDirectory(dir, done);
    },
  };
  return {
    files,
    calls: () => calls,
    failWhen(nextCode, nextFails) {
      code = nextCode;
      fails = nextFails;
    },
  };
}

/** Segments that are opened while it is full lead to a device on which every write fails with ENOSPC. */
interface FullDevice {
  readonly files: SpoolFiles;
  isFull: boolean;
}

export function createFullDevice(): FullDevice {
  const device: FullDevice = {
    isFull: false,
    files: {
      ...NODE_FILES,
      createAppending: (path: string) =>
        device.isFull ? openSync('/dev/full', 'w') : NODE_FILES.createAppending(path),
      write: (fd: number, bytes: Buffer, position: number | null) => {
        // A segment that is open already grows no more, either.
        if (device.isFull && position === null) throw fault('ENOSPC');
        return NODE_FILES.write(fd, bytes, position);
      },
      createFilled: (path: string, bytes: number) =>
        device.isFull ? Promise.reject(fault('ENOSPC')) : NODE_FILES.createFilled(path, bytes),
    },
  };
  return device;
}
