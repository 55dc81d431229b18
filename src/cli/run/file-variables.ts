/** Base variables that files set: a program that reads them has its credential there too. Files that cannot be read say nothing. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Json } from '../setup/config-format.ts';
import { valueAt } from '../setup/locate.ts';
import { FORMATS } from '../setup/registry.ts';
import type { FormatName } from '../setup/setup-client.ts';
import { readUserFile } from '../setup/user-file.ts';
import type { FileVariables } from './base-variables.ts';

/** A parsed file; null where there is none, or none that can be read, which its program says better. */
export function readConfig(path: string, format: FormatName): Json {
  try {
    return FORMATS[format].parse(readUserFile(path)?.text ?? '');
  } catch {
    return null;
  }
}

/** Of an object in a file, those members that are texts. */
export function variablesAt(path: string, data: unknown): FileVariables {
  const entries = Object.entries(typeof data === 'object' && data !== null ? data : {});
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [[name, { value, path }]] : [])),
  );
}

export function settingsVariables(path: string): FileVariables {
  return variablesAt(path, valueAt(readConfig(path, 'json'), ['env']));
}

export function readEnvFile(path: string): FileVariables {
  try {
    // Some managers of secrets have a pipe there, which would be waited for.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return {};
    return variablesAt(path, parseEnv(readUserFile(path)?.text ?? ''));
  } catch {
    return {};
  }
}

/** The folder and all above it, the nearest first. */
export function foldersUp(cwd: string): readonly string[] {
  const folders = [cwd];
  for (let dir = cwd; dirname(dir) !== dir; dir = dirname(dir)) folders.push(dirname(dir));
  return folders;
}

/** Of each `.env` in the folder and above it; what stands nearest wins. */
export function readEnvFiles(cwd: string): FileVariables {
  return Object.assign(
    {},
    ...foldersUp(cwd)
      .toReversed()
      .map((folder) => readEnvFile(join(folder, '.env'))),
  );
}

/** Of the first of these files that there is: by `names` in the folder, in each above it, then in `home`. */
export function readFirstEnvFile(cwd: string, names: readonly string[], home: string): FileVariables {
  const paths = [...foldersUp(cwd), home].flatMap((folder) => names.map((name) => join(folder, name)));
  const first = paths.find((path) => existsSync(path));
  return first === undefined ? {} : readEnvFile(first);
}
