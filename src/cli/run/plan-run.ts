/** What a program is started with, so that its calls go through the gateway into its own run. */
import { basename } from 'node:path';
import type { Environment } from '../../vocabulary/config.ts';
import { SECRET_SETTINGS } from '../../vocabulary/secret-settings.ts';
import { readAddressOwner } from '../address-owner.ts';
import { listSetupAddresses } from '../setup/setup-record.ts';
import { readBaseVariables, readCustomHeaders, readNoProxy } from './base-variables.ts';
import { addBotocorePlugin } from './botocore-plugin.ts';
import { aider } from './clients/aider.ts';
import { claude } from './clients/claude.ts';
import { cline } from './clients/cline.ts';
import { codex } from './clients/codex.ts';
import { continueCli } from './clients/continue.ts';
import { gemini } from './clients/gemini.ts';
import { opencode } from './clients/opencode.ts';
import { pi } from './clients/pi.ts';
import { qwen } from './clients/qwen.ts';
import { RUN_ADDRESS_VARIABLE, RUN_TOKEN_VARIABLE, type RunClient } from './clients/run-client.ts';
import { readEnvFiles } from './file-variables.ts';

/** Most others read the variables of their SDKs, and need no line here. */
const CLIENTS: readonly RunClient[] = [aider, claude, cline, codex, continueCli, gemini, opencode, pi, qwen];

export interface RunPlan {
  readonly args: readonly string[];
  readonly env: Environment;
  /** Variables and providers in files that lead to a server of the user's own, and stay as they are. */
  readonly left: readonly string[];
  /** Written for this start; they go when it ends. */
  readonly files: readonly string[];
  /** For the user, before the start. */
  readonly note: string | null;
}

export interface RunTarget {
  /** The gateway's with the token in it. */
  readonly address: string;
  readonly token: string;
  readonly traceId: string;
  readonly ownDir: string;
  readonly home: string;
  readonly cwd: string;
}

/** What the gateway is started and asked with is not for a program that it serves. `DATABASE_URL` is the program's own. */
function withoutSecrets(env: Environment): Environment {
  const isSecret = (name: string) =>
    SECRET_SETTINGS.includes(name.replace(/_FILE$/, '')) || name.startsWith('TOLLGATE_AWS_');
  return Object.fromEntries(Object.entries(env).filter(([name]) => !(name.startsWith('TOLLGATE_') && isSecret(name))));
}

export function planRun(command: readonly string[], env: Environment, target: RunTarget): RunPlan {
  const [file = '', ...args] = command;
  const { address, token, traceId, ownDir, home, cwd } = target;
  const program = basename(file).replace(/\.(?:exe|cmd|[cm]?js)$/, '');
  const client = CLIENTS.find(({ programs }) => programs.includes(program));
  const origin = address.slice(0, address.lastIndexOf('/@'));
  const gateways = [address, ...listSetupAddresses(ownDir)];
  const ownerOf = (value: unknown) => readAddressOwner(value, gateways);
  const place = { address, origin, token, env, ownDir, args, home, cwd, traceId, ownerOf };
  // Also those of a client that `npx` or a shell is to start: they are in its words.
  const words = new Set(command.join(' ').split(/\W+/));
  const named = CLIENTS.filter((one) => one === client || one.programs.some((name) => words.has(name)));
  const inFiles = Object.assign(readEnvFiles(cwd, ['.env']), ...named.map((one) => one.readVariables?.(place)));
  const { set, left } = readBaseVariables(env, address, gateways, inFiles);
  const added = client?.add(place) ?? {};
  return {
    args: [...(added.args ?? []), ...args],
    env: {
      ...withoutSecrets(env),
      ...readNoProxy(env, address),
      ...readCustomHeaders(env),
      ...addBotocorePlugin(env, ownDir),
      ...set,
      [RUN_ADDRESS_VARIABLE]: address,
      [RUN_TOKEN_VARIABLE]: token,
      TOLLGATE_RUN: traceId,
      ...added.env,
    },
    left: [...new Set([...left, ...(added.left ?? [])])],
    files: added.files ?? [],
    note: added.note ?? null,
  };
}
