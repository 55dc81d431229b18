/**
 * The demo as a child of the supervisor: told its port by `start`, says `ready`, ends by `stop` or when the supervisor
 * is gone. What it serves is `fake-provider.ts`.
 */
import { join } from 'node:path';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';
import { isObject } from './json-object.ts';

const HOST = '127.0.0.1';
/** The same place seen from `src/demo` and from `dist/demo`. */
const FIXTURES_DIR = join(import.meta.dirname, '..', '..', 'fixtures');

function readPort(message: Readonly<Record<string, unknown>>): number {
  return typeof message['demoPort'] === 'number' ? message['demoPort'] : 0;
}

export function runDemoProcess(): void {
  let provider: Promise<FakeProvider> | null = null;

  const leave = async (): Promise<void> => {
    await (await provider)?.close();
    process.exit(0);
  };

  const start = async (port: number): Promise<void> => {
    provider = startFakeProvider({ host: HOST, port, fixturesDir: FIXTURES_DIR });
    await provider;
    process.send?.({ type: 'ready' });
  };

  const fail = (error: unknown): void => {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : 'failed'}\n`);
    process.exit(1);
  };

  // Ctrl-C reaches the whole terminal group; the supervisor decides when its children end.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => leave().catch(fail));
  process.on('message', (message: unknown) => {
    if (!isObject(message)) return;
    if (message['type'] === 'start' && provider === null) start(readPort(message)).catch(fail);
    if (message['type'] === 'stop') leave().catch(fail);
  });
}
