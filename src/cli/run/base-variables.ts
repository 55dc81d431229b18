/** The environment of a program whose clients are to call the gateway: the base addresses of all SDKs. Pure. */
import { PROVIDERS } from '../../providers/registry.ts';
import type { Environment } from '../../vocabulary/config.ts';
import { readAddressOwner } from '../address-owner.ts';

export interface BaseVariables {
  readonly set: Readonly<Record<string, string>>;
  /** Variables that lead to a server of the user's own, and stay as they are; with the file where one stands in a file. */
  readonly left: readonly string[];
}

/** What files set where the environment does not, by name. */
export type FileVariables = Readonly<Record<string, { readonly value: string; readonly path: string }>>;

export function nameInFile(name: string, path: string): string {
  return `${name} (${path})`;
}

/**
 * `address`: the gateway's with the token in it, without a slash at its end. The variables of a provider have one credential:
 * one that is not set goes where the others go.
 */
export function readBaseVariables(
  env: Environment,
  address: string,
  gateways: readonly string[] = [address],
  inFiles: FileVariables = {},
): BaseVariables {
  const set: Record<string, string> = {};
  const left: string[] = [];
  for (const provider of Object.values(PROVIDERS)) {
    const given = provider.baseVariables.map(({ name, path }) => {
      const said = env[name]?.trim() === '' ? undefined : env[name];
      const file = said === undefined ? inFiles[name] : undefined;
      return { name, path, file: file?.path, owner: readAddressOwner(said ?? file?.value, gateways) };
    });
    const owners = given.map(({ owner }) => owner).filter((owner) => owner !== null);
    const ofOthers = owners.includes('foreign') ? 'foreign' : owners[0];
    for (const { name, path, file, owner: own } of given) {
      const owner = own ?? ofOthers ?? 'gateway';
      if (own === 'foreign') left.push(file === undefined ? name : nameInFile(name, file));
      if (owner === 'foreign') continue;
      const meant = owner === 'gateway' ? provider : PROVIDERS[owner];
      const isNamed = 'isNamedInAddress' in meant || meant.name !== provider.name;
      set[name] = `${address}${isNamed ? `.${meant.name}` : ''}${path}`;
    }
  }
  return { set, left };
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
