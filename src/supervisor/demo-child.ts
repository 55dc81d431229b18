/** The local fake provider of `--demo` as a child. Its address is known before it runs: the socket is ours. */
import type { DemoStart } from '../channel.ts';
import { formatOrigin } from '../format-origin.ts';
import type { ListeningSockets } from './listening-sockets.ts';
import { type ChildBase, createSupervisedChild, LISTEN_FD, type SupervisedChild } from './supervised-child.ts';

export const DEMO_STOP_MS = 1_000;
const DEMO_READINESS_MS = 20_000;

/** Creates it, without starting it. */
export function createDemoChild(base: ChildBase, bound: ListeningSockets, onChange: () => void): SupervisedChild {
  const origin = formatOrigin(bound.host, bound.port);
  return createSupervisedChild({
    ...base,
    ...{ role: 'demo', listenFd: bound.sockets[0]?.fd() ?? null, readinessTimeoutMs: DEMO_READINESS_MS },
    createStart: (): DemoStart => ({ type: 'start', role: 'demo', listenFd: LISTEN_FD, origin }),
    // It has nothing to say but that it is ready.
    ...{ onMessage: () => {}, onChange },
  });
}
