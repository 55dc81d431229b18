/**
 * What most test files of the proxy stand on, opened while the file is loaded and closed behind its last test: a scripted
 * provider, and a proxy in this process that calls it. What else starts a proxy takes `start-proxy.ts`, which knows no tests.
 */
import { afterAll } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

type ProxyOptions = Parameters<typeof startProxy> extends [string, ...infer Rest] ? Rest : never;

export interface OpenProxy {
  readonly provider: ScriptedProvider;
  readonly proxy: InProcessProxy;
}

export async function openProxy(...options: ProxyOptions): Promise<OpenProxy> {
  const provider = await startScriptedProvider();
  const proxy = await startProxy(provider.origin, ...options);
  afterAll(async () => {
    await proxy.close();
    await provider.close();
  });
  return { provider, proxy };
}
