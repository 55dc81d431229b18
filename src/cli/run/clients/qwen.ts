/** Qwen Code reads the variables of its SDK; its settings give way to them, but the key for their address is there too. */
import { join } from 'node:path';
import { valueAt } from '../../setup/locate.ts';
import { readConfig, readFirstEnvFile, settingsVariables, variablesAt } from '../file-variables.ts';
import type { RunClient } from './run-client.ts';

export const qwen: RunClient = {
  programs: ['qwen'],
  packageName: '@qwen-code/qwen-code',
  readVariables: ({ home, cwd }) => {
    const files = [home, cwd].map((folder) => join(folder, '.qwen', 'settings.json'));
    const login = files.map((path) => {
      const baseUrl = valueAt(readConfig(path, 'json'), ['security', 'auth', 'baseUrl']);
      return variablesAt(path, { OPENAI_BASE_URL: baseUrl });
    });
    return Object.assign(
      {},
      ...login,
      ...files.map(settingsVariables),
      readFirstEnvFile(cwd, ['.qwen/.env', '.env'], home),
    );
  },
  hasOwnEnvFiles: true,
  add: () => ({}),
};
