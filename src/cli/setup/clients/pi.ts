/** pi: an extension, which leads its providers here and says the session with each call, since pi does so for OpenAI alone. */
import { join } from 'node:path';
import type { ProviderName } from '../../../providers/registry.ts';
import { atHost, type LedAddress, leadAddress } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient, SetupPlace } from '../setup-client.ts';

/** pi's names, ours, and what it expects behind the address. */
const PROVIDERS_OF_PI: readonly (readonly [name: string, provider: ProviderName, path: string])[] = [
  ['anthropic', 'anthropic', ''],
  ['openai', 'openai', '/v1'],
  ['google', 'gemini', '/v1beta'],
];

interface LedProvider {
  readonly name: string;
  readonly to: LedAddress;
}

function dirOf({ env, home }: Pick<SetupPlace, 'env' | 'home'>): string {
  return env['PI_CODING_AGENT_DIR'] ?? join(home, '.pi', 'agent');
}

/** `models.json` can give a provider another address; a key for that server stands there as well. */
export function ledProviders(place: Pick<SetupPlace, 'env' | 'home' | 'addressOf' | 'read'>): {
  readonly path: string;
  readonly led: readonly LedProvider[];
  readonly left: readonly string[];
} {
  const models = join(dirOf(place), 'models.json');
  const data = place.read(models, 'json');
  const found = PROVIDERS_OF_PI.map(([name, provider, path]) => {
    const address = valueAt(data, ['providers', name, 'baseUrl']);
    return { name, address, to: leadAddress(place.addressOf(address), { provider, path }) };
  });
  return {
    path: models,
    led: found.flatMap(({ name, to }) => (to === null ? [] : [{ name, to }])),
    left: found.filter(({ to }) => to === null).map(({ name, address }) => `provider "${name}"${atHost(address)}`),
  };
}

function writeExtension(origin: string, key: string, led: readonly LedProvider[]): string {
  const lines = led.map(({ name, to }) => {
    const headers = to.named === null ? 'headers' : `headers: { ...headers, 'X-Gateway-Provider': '${to.named}' }`;
    return `    pi.registerProvider('${name}', { baseUrl: ${JSON.stringify(origin + to.path)}, ${headers} });`;
  });
  return `// Written by \`tollgate setup pi\`; \`tollgate setup pi --undo\` takes it away.
export default function (pi) {
  if (process.env.TOLLGATE_RUN) return; // \`tollgate run\` leads it.
  const lead = (run) => {
    const headers = { 'X-Gateway-Key': ${JSON.stringify(key)}, 'X-Gateway-Client': 'pi', ...run };
${lines.join('\n')}
  };
  lead({});
  pi.on('session_start', (_event, ctx) => {
    const session = ctx.sessionManager.getSessionId?.();
    if (session) lead({ 'X-Gateway-Trace-Id': 'pi:' + session });
  });
}
`;
}

export const pi: SetupClient = {
  name: 'pi',
  title: 'pi',
  listFiles: (place) => {
    const { origin, key } = place;
    const { led, left } = ledProviders(place);
    return [
      {
        path: join(dirOf(place), 'extensions', 'tollgate.js'),
        format: 'whole',
        edits: led.length === 0 ? [] : [{ path: [], value: writeExtension(origin, key, led) }],
        left,
      },
    ];
  },
};
