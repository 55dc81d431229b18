/** What a program is started with, so that its calls go through the gateway into its own run. */
import type { Environment } from '../../vocabulary/config.ts';
import { SECRET_SETTINGS } from '../../vocabulary/secret-settings.ts';
import { readAddress } from '../address-owner.ts';
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
import { describeRegion } from './describe-region.ts';
import { readEnvFiles } from './file-variables.ts';
import { listStarted } from './list-started.ts';

/** Most others read the variables of their SDKs, and need no line here. */
const CLIENTS: readonly RunClient[] = [aider, claude, cline, codex, continueCli, gemini, opencode, pi, qwen];

export interface RunPlan {
  readonly args: readonly string[];
  readonly env: Environment;
  /** Variables and providers in files that lead elsewhere, and stay as they are. */
  readonly left: readonly string[];
  /** Written for this start; they go when it ends. */
  readonly files: readonly string[];
  /** For the user, before the start. */
  readonly notes: readonly string[];
}

export interface RunTarget {
  /** The gateway's with the token in it. */
  readonly address: string;
  readonly token: string;
  /** Other addresses of the same gateway. */
  readonly others?: readonly string[];
  /** Names the upstream of all its calls, so that no region is in doubt. */
  readonly hasAlias?: boolean;
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

function findClient(names: readonly string[]): RunClient | undefined {
  return CLIENTS.find(
    ({ programs, packageName }) =>
      names.some((name) => programs.includes(name)) || (packageName !== undefined && names.includes(packageName)),
  );
}

export function planRun(command: readonly string[], env: Environment, target: RunTarget): RunPlan {
  const [, ...args] = command;
  const { address, token, others = [], traceId, ownDir, home, cwd } = target;
  const started = listStarted(command, findClient);
  // What only starts a client cannot be given the client's own flags.
  const client = listStarted(command.slice(0, 1), findClient)[0]?.client;
  const origin = address.slice(0, address.lastIndexOf('/@'));
  const gateways = [address, ...others, ...listSetupAddresses(ownDir)];
  const addressOf = (value: unknown) => readAddress(value, gateways);
  const place = { address, origin, token, env, ownDir, args, home, cwd, traceId, addressOf };
  const inFiles = Object.assign(
    client?.hasOwnEnvFiles === true ? {} : readEnvFiles(cwd),
    ...started.map((one) => one.client.readVariables?.({ ...place, args: one.args })),
  );
  const base = readBaseVariables(env, address, gateways, inFiles);
  const added = client?.add({ ...place, base }) ?? {};
  return {
    args: [...(added.args ?? []), ...args],
    env: {
      ...withoutSecrets(env),
      ...readNoProxy(env, address),
      ...readCustomHeaders(env, base),
      ...addBotocorePlugin(env, ownDir),
      ...base.set,
      [RUN_ADDRESS_VARIABLE]: address,
      [RUN_TOKEN_VARIABLE]: token,
      TOLLGATE_RUN: traceId,
      ...added.env,
    },
    left: [...new Set([...base.left, ...(added.left ?? [])])],
    files: added.files ?? [],
    notes: [added.note ?? null, target.hasAlias === true ? null : describeRegion(env, base)].filter(
      (note) => note !== null,
    ),
  };
}
