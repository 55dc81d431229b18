/**
 * The demo as a child of the supervisor: told by `start` where to listen, says `ready`, ends by `stop` or when the supervisor
 * is gone. What it serves is `fake-provider.ts`.
 */
import { join } from 'node:path';
import { type FakeProvider, type FakeProviderOptions, startFakeProvider } from './fake-provider.ts';
import { isObject, type JsonObject } from './json-object.ts';

const HOST = '127.0.0.1';
/** The same place seen from `src/demo` and from `dist/demo`. */
const FIXTURES_DIR = join(import.meta.dirname, '..', '..', 'fixtures');

/** `listenFd`: a socket that the supervisor owns; otherwise `demoPort`, or a port that the system chooses. */
function readPlace(start: JsonObject): Pick<FakeProviderOptions, 'port' | 'listenFd'> {
  const { listenFd, demoPort } = start;
  const port = typeof demoPort === 'number' ? demoPort : 0;
  return typeof listenFd === 'number' ? { port, listenFd } : { port };
}

export function runDemoProcess(): void {
  let provider: Promise<FakeProvider> | null = null;

  const leave = async (): Promise<void> => {
    await (await provider)?.close();
    process.exit(0);
  };

  const start = async (message: JsonObject): Promise<void> => {
    provider = startFakeProvider({ host: HOST, fixturesDir: FIXTURES_DIR, ...readPlace(message) });
    await provider;
    process.send?.({ type: 'ready' });
  };

  const fail = (error: unknown): void => {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : 'failed'}\n`);
    process.exit(1);
  };

  // Ctrl-C, or a signal to the whole group, is for the supervisor; it decides when its children end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('disconnect', () => leave().catch(fail));
  process.on('message', (message: unknown) => {
    if (!isObject(message)) return;
    if (message['type'] === 'start' && provider === null) start(message).catch(fail);
    if (message['type'] === 'stop') leave().catch(fail);
  });
}
