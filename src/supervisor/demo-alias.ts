/** The alias `demo` of every provider, which leads to the local fake provider of `--demo`. It starts no server. */
import { PROVIDER_NAMES, type ProviderName } from '../call-record.ts';
import type { Config, UpstreamConfig } from '../config.ts';
import { formatOrigin } from '../format-origin.ts';
import type { ListeningSockets } from './listening-sockets.ts';

export function addDemoAlias(config: Config, { host, port }: ListeningSockets): Config {
  const origin = formatOrigin(host, port);
  // One server stands for all seven; the prefix tells it which one is meant.
  const demo = (name: ProviderName): UpstreamConfig => ({ origin: `${origin}/${name}`, region: null });
  const aliases = Object.fromEntries(
    PROVIDER_NAMES.map((name) => [name, { ...config.aliases[name], demo: demo(name) }]),
  );
  return { ...config, aliases };
}
