/** The headers that say where the program is. */
import { readFrameworks } from './frameworks/read-frameworks.ts';
import { encodePath, headerSafeId } from './metadata.ts';
import { listOpen } from './place.ts';
import { BASE_PATHS } from './providers.ts';
import { readSettings } from './settings.ts';
import { current } from './state.ts';

/** For a request to the gateway that is made here and now: key, run, steps and metadata. Throws without a key. */
export function headers(): Record<string, string> {
  const { key } = current.settings ?? readSettings();
  return { ...(key === null ? {} : { 'X-Gateway-Key': key }), ...placeHeaders() };
}

/** The address that an SDK of `provider` is given instead of the provider's own. Throws for an unknown one. */
export function baseUrl(provider = 'openai'): string {
  const path = Object.hasOwn(BASE_PATHS, provider) ? BASE_PATHS[provider] : undefined;
  if (path === undefined) {
    throw new TypeError(
      `unknown provider ${JSON.stringify(provider)}; known are ${Object.keys(BASE_PATHS).join(', ')}`,
    );
  }
  const { origin, prefix } = current.settings ?? readSettings();
  return `${origin}${prefix}${path}`;
}

/** Run, steps and metadata, as the gateway reads them; nothing of them where none is open. */
export function placeHeaders(): Record<string, string> {
  const open = listOpen();
  const framework = readFrameworks();
  const found: Record<string, string> = {};
  const runId = (open[0]?.runId ?? framework.runId)?.trim() ?? '';
  if (runId !== '') found['X-Gateway-Trace-Id'] = headerSafeId(runId);
  let names: string[] = [];
  let seen: readonly string[] = [];
  for (const place of open) {
    // A step that was opened inside of a node of a framework stands beneath that node; what was around the run does not.
    names = place.runId === null ? [...names, ...withoutCommon(seen, place.framework)] : [];
    seen = place.framework;
    if (place.name !== null) names.push(place.name);
    Object.assign(found, place.metadata);
  }
  const path = encodePath([...names, ...withoutCommon(seen, framework.names)]);
  if (path !== '') found['X-Gateway-Span-Path'] = path;
  return found;
}

/** What of `names` comes after their common beginning with `before`. */
function withoutCommon(before: readonly string[], names: readonly string[]): readonly string[] {
  const differs = names.findIndex((name, index) => name !== before[index]);
  return differs === -1 ? [] : names.slice(differs);
}
