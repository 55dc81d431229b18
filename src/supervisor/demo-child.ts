/** The local fake provider of `--demo` as a child, and the alias `demo` of every provider that leads to it. */
import { PROVIDER_NAMES, type ProviderName } from '../vocabulary/call-record.ts';
import type { DemoStart } from '../vocabulary/channel.ts';
import type { Config, UpstreamConfig } from '../vocabulary/config.ts';
import type { ListeningSockets } from './listening-sockets.ts';
import { formatOrigin } from './proxy-origin.ts';
import { type ChildBase, createSupervisedChild, LISTEN_FD, type SupervisedChild } from './supervised-child.ts';

export const DEMO_STOP_MS = 1_000;
const DEMO_READINESS_MS = 20_000;

export function createDemoChild(base: ChildBase, bound: ListeningSockets, onChange: () => void): SupervisedChild {
  const origin = formatOrigin(bound.host, bound.port);
  return createSupervisedChild({
    ...base,
    role: 'demo',
    listenFd: bound.sockets[0]?.fd() ?? null,
    readinessTimeoutMs: DEMO_READINESS_MS,
    createStart: (): DemoStart => ({ type: 'start', role: 'demo', listenFd: LISTEN_FD, origin }),
    onMessage: () => {},
    onChange,
  });
}

export function addDemoAlias(config: Config, { host, port }: ListeningSockets): Config {
  const origin = formatOrigin(host, port);
  // One server stands for all providers; the prefix tells it which one is meant.
  const demo = (name: ProviderName): UpstreamConfig => ({ origin: `${origin}/${name}`, region: null });
  const aliases = Object.fromEntries(
    PROVIDER_NAMES.map((name) => [name, { ...config.aliases[name], demo: demo(name) }]),
  );
  return { ...config, aliases };
}
