/** A proxy and nothing else in a process of its own, which writes what its heap holds to a file when it is asked. */
import { writeHeapSnapshot } from 'node:v8';
import { startProxy } from './start-proxy.ts';

const proxy = await startProxy(String(process.argv[2]));
process.on('message', async (message) => {
  if (message === 'end') process.exit(0);
  // Connections that have just been closed are let go of in the next turns.
  await new Promise((resolve) => setTimeout(resolve, 100));
  globalThis.gc?.();
  writeHeapSnapshot(String(message));
  process.send?.('written');
});
process.send?.({ port: proxy.port, key: proxy.key });
