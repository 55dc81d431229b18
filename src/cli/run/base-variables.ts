/** The environment of a program whose clients are to call the gateway: the base addresses of all SDKs. Pure. */
import { PROVIDERS, type ProviderName } from '../../providers/registry.ts';
import type { Environment } from '../../vocabulary/config.ts';
import { leadAddress, readAddress, writeLedAddress } from '../address-owner.ts';

export interface BaseVariables {
  readonly set: Readonly<Record<string, string>>;
  /** Variables that lead elsewhere, and stay as they are; with the file where one stands in a file. */
  readonly left: readonly string[];
  /** The names alone. */
  readonly leftNames: readonly string[];
}

/** What files set, by name. */
export type FileVariables = Readonly<Record<string, FileVariable>>;

export interface FileVariable {
  readonly value: string;
  /** The file, or whatever else of the client says it. */
  readonly path: string;
  /** It wins over the environment; others give way to it. */
  readonly isFirst?: true;
}

export function nameInFile(name: string, path: string): string {
  return `${name} (${path})`;
}

/** The providers' variables: whose each is, and what its clients expect behind the address. */
export function findBaseVariable(name: string): { readonly provider: ProviderName; readonly path: string } | null {
  for (const { name: provider, baseVariables } of Object.values(PROVIDERS)) {
    const found = baseVariables.find((one) => one.name === name);
    if (found !== undefined) return { provider, path: found.path };
  }
  return null;
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
  const leftNames: string[] = [];
  for (const provider of Object.values(PROVIDERS)) {
    const given = provider.baseVariables.map(({ name, path }) => {
      const own = env[name]?.trim() === '' ? undefined : env[name];
      const file = own === undefined || inFiles[name]?.isFirst === true ? inFiles[name] : undefined;
      return { name, path, file, known: readAddress(file?.value ?? own, gateways) };
    });
    const isElsewhere = given.some(({ known }) => known?.owner === 'foreign');
    const other = given.find((one) => one.known !== null);
    for (const { name, path, file, known } of given) {
      if (known?.owner === 'foreign') {
        left.push(file === undefined ? name : nameInFile(name, file.path));
        leftNames.push(name);
      }
      if (known === null ? isElsewhere : known.owner === 'foreign') continue;
      // The path of another variable says something only where both are given the same.
      const from = known ?? other?.known ?? null;
      const hasPath = from === null || known !== null || other?.path === path;
      const led = leadAddress(hasPath ? from : { ...from, path: '' }, { provider: provider.name, path });
      if (led !== null) set[name] = writeLedAddress(address, led);
    }
  }
  return { set, left, leftNames };
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
export function withoutTokenHeaders(headers: string): string {
  return headers
    .split('\n')
    .filter((line) => !/^\s*x-gateway-(?:key|trace-id)\s*:/i.test(line))
    .join('\n');
}

/** `ANTHROPIC_CUSTOM_HEADERS` goes with `ANTHROPIC_BASE_URL`: what stays at another gateway keeps its key. */
export function readCustomHeaders(
  env: Environment,
  { set, leftNames }: BaseVariables,
): Readonly<Record<string, string>> {
  const changed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!name.endsWith('_CUSTOM_HEADERS') || value === undefined) continue;
    const isOf = (variable: string) => variable.split('_').includes(name.split('_')[0] ?? '');
    if (!Object.keys(set).some(isOf) || leftNames.some(isOf)) continue;
    const kept = withoutTokenHeaders(value);
    if (kept !== value) changed[name] = kept;
  }
  return changed;
}
