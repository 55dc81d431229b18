/** Runs the demo as a child of the supervisor, which says where to listen and ends it. */
import { join } from 'node:path';
import type { ChildChannel, DemoStart } from '../vocabulary/channel.ts';
import { type FakeProvider, startFakeProvider } from './fake-provider.ts';

const HOST = '127.0.0.1';
/** The path is the same from `src/demo` and `dist/demo`. */
const FIXTURES_DIR = join(import.meta.dirname, '..', '..', 'fixtures');

export function runDemoProcess(channel: ChildChannel): void {
  let provider: Promise<FakeProvider> | null = null;

  async function start({ listenFd }: DemoStart): Promise<void> {
    provider = startFakeProvider({ host: HOST, port: 0, listenFd, fixturesDir: FIXTURES_DIR });
    await provider;
    channel.send({ type: 'ready' });
  }

  async function leave(): Promise<void> {
    await (await provider)?.close();
    process.exit(0);
  }

  function fail(error: unknown): void {
    process.stderr.write(`demo: ${error instanceof Error ? error.message : 'failed'}\n`);
    process.exit(1);
  }

  channel.onMessage((message) => {
    if (message.type === 'start' && message.role === 'demo') start(message).catch(fail);
    else if (message.type === 'stop') leave().catch(fail);
  });
  channel.onDisconnect(() => leave().catch(fail));
}
