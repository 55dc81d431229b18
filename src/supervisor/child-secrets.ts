/** Keeps secrets out of the children's environment and settings; those that a child needs travel over its channel. */
import type { AlertConfig, Config } from '../vocabulary/config.ts';
import { SECRET_SETTINGS } from '../vocabulary/secret-settings.ts';

/** The threads of each child's libuv pool. Node's four would leave two for name look-ups. */
const THREADS = 32;

const NO_ALERTS: AlertConfig = { smtpUrl: null, smtpFrom: '', hosts: [] };

const WITHHELD = SECRET_SETTINGS.flatMap((name) => [name, `${name}_FILE`]);

function isWithheld(variable: string): boolean {
  return WITHHELD.includes(variable) || variable.startsWith('TOLLGATE_AWS_');
}

export function childEnvironment(env: NodeJS.ProcessEnv, compileCache: string): NodeJS.ProcessEnv {
  return {
    // It halves the time of every start but the first, and saves 30 MB when run from the sources.
    NODE_COMPILE_CACHE: compileCache,
    // Name look-ups may block half of them (`proxy/upstream/shared-names.ts`).
    UV_THREADPOOL_SIZE: String(THREADS),
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !isWithheld(name))),
  };
}

/** A proxy asks neither database nor admin API. */
export function proxyConfig(config: Config): Config {
  return { ...config, databaseUrl: null, adminToken: null, metricsToken: null, oidc: null, alerts: NO_ALERTS };
}

/** Control forwards nothing, so it needs no upstream credentials. */
export function controlConfig(config: Config): Config {
  return { ...config, upstreams: {}, aliases: {}, leading: {} };
}
