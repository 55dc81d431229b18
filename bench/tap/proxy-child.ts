/** A proxy in a process of its own, which tells the time that it has spent. */
import { startProxy } from '../../test/proxy/start-proxy.ts';

const proxy = await startProxy(process.argv[2] ?? '', { bodies: 'off' });
process.send?.({ port: proxy.port, key: proxy.key });
process.on('message', (message) => {
  if (message === 'end') void proxy.close().then(() => process.exit(0));
  else {
    const { user, system } = process.cpuUsage();
    void proxy.lastCall().then(({ end }) => process.send?.({ us: user + system, flags: end.flags, usage: end.usage }));
  }
});
