/**
 * aider reads the variables of LiteLLM, but sets them itself first, each time over what was there: from its `.env` files, then
 * from `set-env`, then from `openai-api-base`. An option comes from the command line, else from its variable, else from the
 * last of its configuration files. Where any of these lead to a gateway or provider, variables that win say them anew.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from '../../../vocabulary/config.ts';
import { valueAt } from '../../setup/locate.ts';
import type { FileVariable, FileVariables } from '../base-variables.ts';
import { foldersUp, readConfig, readEnvFile } from '../file-variables.ts';
import type { RunClient, RunPlace } from './run-client.ts';

const LIST = 'set-env';
const BASE = 'openai-api-base';
const BASE_SETS = 'OPENAI_API_BASE';

interface Option {
  readonly values: readonly string[];
  /** The file, the variable, or the option on the command line. */
  readonly path: string;
  readonly isArgument: boolean;
}

interface Sources {
  readonly inEnvFiles: FileVariables;
  readonly list: Option | null;
  readonly base: Option | null;
}

function readArguments(args: readonly string[], option: string): readonly string[] {
  return args.flatMap((argument, at) => {
    if (argument === option) return args[at + 1] ?? [];
    return argument.startsWith(`${option}=`) ? [argument.slice(option.length + 1)] : [];
  });
}

function variableOf(name: string): string {
  return `AIDER_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** `[A=1, B=2]` or one alone, as its variables and files have a list. */
function readList(text: string): readonly string[] {
  return /^\[.*\]$/s.test(text)
    ? text
        .slice(1, -1)
        .split(',')
        .map((one) => one.trim())
    : [text];
}

function readOption(name: string, args: readonly string[], env: Environment, files: readonly string[]): Option | null {
  const given = readArguments(args, `--${name}`);
  if (given.length > 0) return { values: given, path: `--${name}`, isArgument: true };
  const variable = env[variableOf(name)];
  if (variable !== undefined) return { values: readList(variable), path: variableOf(name), isArgument: false };
  for (const path of files.toReversed()) {
    const value = valueAt(readConfig(path, 'yaml'), [name]);
    const values = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? readList(value) : [];
    if (values.length > 0) return { values, path, isArgument: false };
  }
  return null;
}

/** A later folder or file wins over an earlier one. */
function readSources({ home, cwd, args, env }: RunPlace): Sources {
  const root = args.includes('--no-git')
    ? undefined
    : foldersUp(cwd).find((folder) => existsSync(join(folder, '.git')));
  const folders = [home, root, cwd].filter((folder) => folder !== undefined);
  const listFiles = (name: string, given: readonly string[]) => [
    ...folders.map((folder) => join(folder, name)),
    ...given.slice(-1).map((path) => resolve(cwd, path)),
  ];
  const envFiles = listFiles('.env', readArguments(args, '--env-file'));
  const inEnvFiles: FileVariables = Object.assign({}, ...envFiles.map(readEnvFile));
  const all = { ...env, ...Object.fromEntries(Object.entries(inEnvFiles).map(([name, { value }]) => [name, value])) };
  const configs = listFiles(
    '.aider.conf.yml',
    ['--config', '-c'].flatMap((option) => readArguments(args, option)),
  );
  return { inEnvFiles, list: readOption(LIST, args, all, configs), base: readOption(BASE, args, all, configs) };
}

function readPair(text: string): readonly [name: string, value: string] {
  const equals = text.indexOf('=');
  return [text.slice(0, Math.max(0, equals)).trim(), text.slice(equals + 1).trim()];
}

function listed({ list, base }: Sources): FileVariables {
  const pairs = (list?.values ?? []).map(readPair);
  const path = list?.path ?? '';
  const value = base?.values.at(-1);
  return {
    ...Object.fromEntries(pairs.map(([name, one]): [string, FileVariable] => [name, { value: one, path }])),
    ...(base === null || value === undefined ? {} : { [BASE_SETS]: { value, path: base.path } }),
  };
}

function readVariables(place: RunPlace): FileVariables {
  const sources = readSources(place);
  const all = { ...sources.inEnvFiles, ...listed(sources) };
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, { ...one, isFirst: true }]));
}

export const aider: RunClient = {
  programs: ['aider'],
  packageName: 'aider-chat',
  readVariables,
  hasOwnEnvFiles: true,
  add: (place) => {
    const { set } = place.base;
    const { inEnvFiles, list, base } = readSources(place);
    const former = (list?.values ?? []).map((text) => [readPair(text)[0], text] as const);
    const names = new Set(former.map(([name]) => name));
    const added = Object.keys(inEnvFiles).filter((name) => set[name] !== undefined && !names.has(name));
    const isLed = former.some(([name]) => set[name] !== undefined) || added.length > 0;
    const say = (name: string, text: string) => (set[name] === undefined ? text : `${name}=${set[name]}`);
    const pairs = [...former.map(([name, text]) => say(name, text)), ...added.map((name) => say(name, name))];
    const overBase = base !== null && !base.isArgument ? set[BASE_SETS] : undefined;
    const hasComma = pairs.some((text) => text.includes(','));
    const isListArgument = list?.isArgument === true;
    const obstacles = [
      isLed && isListArgument && `its --${LIST} wins over what is said here`,
      isLed && !isListArgument && hasComma && `a value of ${LIST} has a comma, which no variable can say`,
      base?.isArgument === true && set[BASE_SETS] !== undefined && `its --${BASE} wins over what is said here`,
    ].filter((text) => text !== false);
    const env = {
      ...(overBase === undefined ? {} : { [variableOf(BASE)]: overBase }),
      ...(isLed && !isListArgument && !hasComma ? { [variableOf(LIST)]: `[${pairs.join(', ')}]` } : {}),
    };
    return obstacles.length === 0 ? { env } : { env, note: `aider is led here in part: ${obstacles.join('; ')}` };
  },
};
