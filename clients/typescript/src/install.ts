/** Attaches to what sends requests in this process, and lets go of it. */
import { watchDispatchers, wrapDispatchers } from './libraries/dispatcher.ts';
import { wrapNodeHttp } from './libraries/node-http.ts';
import { wrapNodeHttp2 } from './libraries/node-http2.ts';
import { type InstallOptions, readSettings } from './settings.ts';
import { current } from './state.ts';

const wrapped = new WeakSet<object>();
const restores: (() => void)[] = [];

/**
 * From now on, requests to the known providers go through the gateway. Twice is once; other options replace the former, and a
 * dispatcher that was set since is taken in. Throws without a key.
 */
export function install(options: InstallOptions = {}): void {
  const settings = readSettings(options);
  const isInstalled = current.settings !== null;
  current.settings = settings;
  const wrapNew = () => void restores.push(wrapDispatchers(wrapped));
  wrapNew();
  if (!isInstalled) restores.push(watchDispatchers(wrapped, wrapNew), wrapNodeHttp(), wrapNodeHttp2());
}

/** Everything as before `install()`, for tests. */
export function uninstall(): void {
  current.settings = null;
  for (const restore of restores.splice(0).reverse()) restore();
}
