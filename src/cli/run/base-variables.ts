/** The environment of a program whose clients are to call the gateway: the base addresses of all SDKs. Pure. */
import { PROVIDERS } from '../../providers/registry.ts';
import type { Environment } from '../../vocabulary/config.ts';

export interface BaseVariables {
  readonly set: Readonly<Record<string, string>>;
  /** Variables that lead to a server of the user's own, and stay as they are. */
  readonly left: readonly string[];
}

/** `address`: the gateway's with the token in it, without a slash at its end. */
export function readBaseVariables(env: Environment, address: string): BaseVariables {
  const set: Record<string, string> = {};
  const left: string[] = [];
  for (const provider of Object.values(PROVIDERS))
    for (const { name, path } of provider.baseVariables) {
      const owner = readOwner(env[name], address);
      if (owner === null) {
        left.push(name);
        continue;
      }
      const meant = owner === undefined ? provider : PROVIDERS[owner];
      const isNamed = 'isNamedInAddress' in meant || meant.name !== provider.name;
      set[name] = `${address}${isNamed ? `.${meant.name}` : ''}${path}`;
    }
  return { set, left };
}

/** The provider whose host a variable names; undefined where it says none, null for a server of the user's own. */
function readOwner(value: string | undefined, address: string): keyof typeof PROVIDERS | undefined | null {
  if (value === undefined || value.trim() === '') return undefined;
  const url = URL.parse(value);
  if (url === null) return null;
  if (url.host === URL.parse(address)?.host) return undefined;
  return Object.values(PROVIDERS).find(({ ownsHost }) => ownsHost(url.hostname))?.name ?? null;
}

/** Clients with a proxy set would ask it for the gateway, in clear text, with the token. */
export function readNoProxy(env: Environment, address: string): Readonly<Record<string, string>> {
  const names = Object.keys(env).filter((name) => /^(?:https?|all)_proxy$/i.test(name) && env[name] !== '');
  const host = URL.parse(address)?.hostname.replace(/^\[|\]$/g, '');
  if (names.length === 0 || host === undefined) return {};
  const former = env['NO_PROXY'] ?? env['no_proxy'] ?? '';
  const joined = former === '' ? host : `${former},${host}`;
  return { NO_PROXY: joined, no_proxy: joined };
}

/** Headers of a lasting configuration would win over the token: the key and the run. Others stay. */
export function readCustomHeaders(env: Environment): Readonly<Record<string, string>> {
  const changed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!name.endsWith('_CUSTOM_HEADERS') || value === undefined) continue;
    const kept = value.split('\n').filter((line) => !/^\s*x-gateway-(?:key|trace-id)\s*:/i.test(line));
    if (kept.length !== value.split('\n').length) changed[name] = kept.join('\n');
  }
  return changed;
}
