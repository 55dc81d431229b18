/** The clients that can be set up for good. */
import { OperatorError } from '../../vocabulary/errors.ts';
import { aider } from './clients/aider.ts';
import { claude } from './clients/claude.ts';
import { cline } from './clients/cline.ts';
import { codex } from './clients/codex.ts';
import { continueCli } from './clients/continue.ts';
import { gemini } from './clients/gemini.ts';
import { opencode } from './clients/opencode.ts';
import { pi } from './clients/pi.ts';
import { qwen } from './clients/qwen.ts';
import type { ConfigFormat } from './config-format.ts';
import { envFormat } from './formats/env-file.ts';
import { jsonFormat } from './formats/json.ts';
import { tomlFormat } from './formats/toml.ts';
import { wholeFormat } from './formats/whole-file.ts';
import { yamlFormat } from './formats/yaml.ts';
import type { FormatName, SetupClient } from './setup-client.ts';

export const SETUP_CLIENTS: readonly SetupClient[] = [
  claude,
  codex,
  gemini,
  opencode,
  pi,
  qwen,
  cline,
  continueCli,
  aider,
];

export const FORMATS: Readonly<Record<FormatName, ConfigFormat>> = {
  json: jsonFormat,
  toml: tomlFormat,
  yaml: yamlFormat,
  env: envFormat,
  whole: wholeFormat,
};

export function requireSetupClient(name: string): SetupClient {
  const found = SETUP_CLIENTS.find((client) => client.name === name);
  if (found !== undefined) return found;
  const names = SETUP_CLIENTS.map((client) => client.name).join(', ');
  throw new OperatorError(`"${name}" is no client that can be set up; they are ${names}. For others: docs/clients.md`);
}
