/**
 * Gemini CLI takes a base address for a login of another kind, which it then refuses, unless its settings say that there
 * is an API key. Where the user's say nothing, system defaults can; it reads those of root alone.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readFirstEnvFile } from '../file-variables.ts';
import type { RunClient } from './run-client.ts';

const DEFAULTS_VARIABLE = 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH';
const NOTE =
  'Gemini CLI refuses a base address until its settings say that there is an API key: choose "Use Gemini API Key" in its /auth, or run `tollgate setup gemini`, once';

function saysLogin(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes('"selectedType"');
  } catch {
    return false;
  }
}

export const gemini: RunClient = {
  programs: ['gemini'],
  packageName: '@google/gemini-cli',
  // They give way to the environment, and the key for their address stands in them too.
  readVariables: ({ env, home, cwd }) =>
    readFirstEnvFile(cwd, ['.gemini/.env', '.env'], env['GEMINI_CLI_HOME'] ?? home),
  hasOwnEnvFiles: true,
  add: ({ env, ownDir, home, cwd }) => {
    if (env['GEMINI_API_KEY'] === undefined || env[DEFAULTS_VARIABLE] !== undefined) return {};
    const folders = [env['GEMINI_CLI_HOME'] ?? home, cwd];
    if (folders.some((folder) => saysLogin(join(folder, '.gemini', 'settings.json')))) return {};
    if (process.getuid?.() !== 0) return { note: NOTE };
    mkdirSync(ownDir, { recursive: true, mode: 0o700 });
    const file = join(ownDir, 'gemini-defaults.json');
    writeFileSync(file, JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }), { mode: 0o600 });
    return { env: { [DEFAULTS_VARIABLE]: file } };
  },
};
