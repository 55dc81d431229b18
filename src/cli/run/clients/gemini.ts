/**
 * Gemini CLI takes a base address for a login of another kind, which it then refuses, unless its settings say that there
 * is an API key. System defaults are the settings that all others win over.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunClient } from './run-client.ts';

const DEFAULTS_VARIABLE = 'GEMINI_CLI_SYSTEM_DEFAULTS_PATH';

export const gemini: RunClient = {
  programs: ['gemini'],
  add: ({ env, ownDir }) => {
    if (env['GEMINI_API_KEY'] === undefined || env[DEFAULTS_VARIABLE] !== undefined) return {};
    mkdirSync(ownDir, { recursive: true, mode: 0o700 });
    const file = join(ownDir, 'gemini-defaults.json');
    writeFileSync(file, JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }), { mode: 0o600 });
    return { env: { [DEFAULTS_VARIABLE]: file } };
  },
};
