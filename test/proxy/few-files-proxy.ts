/**
 * A proxy in a process of its own, which `few-files.test.ts` gives few open files. Its bound on connections is left out,
 * so that accepting really fails. Arguments: the provider's origin. Prints its port and key.
 */
import { startProxy } from './start-proxy.ts';

const [, , origin = ''] = process.argv;
const proxy = await startProxy(origin, {}, {}, undefined, undefined, { maxConnections: 10_000 });
process.stdout.write(`${JSON.stringify({ port: proxy.port, key: proxy.key })}\n`);
