/**
 * What each child gets of the environment and of the settings: no secret but those that it needs, and these over its
 * channel, never by its environment or its command line.
 */
import type { Config } from '../config.ts';

/** Of each child, for work that blocks. Node's four would leave two for all names. */
const THREADS = 32;

const WITHHELD = ['DATABASE_URL', 'TOLLGATE_ADMIN_TOKEN', 'TOLLGATE_METRICS_TOKEN'].flatMap((name) => [
  name,
  `${name}_FILE`,
]);

function isWithheld(variable: string): boolean {
  return WITHHELD.includes(variable) || variable.startsWith('TOLLGATE_AWS_');
}

/** Of a child. `compileCache`: where Node keeps compiled code. */
export function childEnvironment(env: NodeJS.ProcessEnv, compileCache: string): NodeJS.ProcessEnv {
  return {
    // From the second start on a child is ready in half the time, and one that runs from the sources is 30 MB smaller,
    // since it does not load what strips their types.
    NODE_COMPILE_CACHE: compileCache,
    // Half of them may be blocked by look-ups of names (`proxy/upstream/shared-names.ts`); read once, before the
    // program.
    UV_THREADPOOL_SIZE: String(THREADS),
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !isWithheld(name))),
  };
}

/** It asks no database and no admin API. */
export function proxyConfig(config: Config): Config {
  return { ...config, databaseUrl: null, adminToken: null, metricsToken: null };
}

/** It forwards nothing, so it needs no credentials of an upstream. */
export function controlConfig(config: Config): Config {
  return { ...config, upstreams: {}, aliases: {}, leading: {} };
}
