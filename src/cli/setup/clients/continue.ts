/** Continue: address and headers of each model in `config.yaml`. */
import { join } from 'node:path';
import { OperatorError } from '../../../vocabulary/errors.ts';
import { atHost } from '../../address-owner.ts';
import { readLedAddress } from '../led-address.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

/** Continue's names of providers; the address has the version for each. */
const PATHS: Readonly<Record<string, string>> = {
  anthropic: '/v1',
  openai: '/v1',
  gemini: '/v1beta',
  deepseek: '/v1',
  together: '/v1',
  fireworks: '/v1',
};
/** Where the path does not tell. */
const NAMED = ['deepseek', 'together', 'fireworks'];

interface Model {
  readonly name: string;
  readonly provider: string;
  readonly apiBase: unknown;
}

function readModels(data: unknown): readonly Model[] {
  const models = valueAt(data, ['models']);
  return (Array.isArray(models) ? models : []).flatMap((model: unknown) => {
    const [name, provider] = ['name', 'provider'].map((member) => valueAt(model, [member]));
    return typeof name === 'string' && typeof provider === 'string' && Object.hasOwn(PATHS, provider)
      ? [{ name, provider, apiBase: valueAt(model, ['apiBase']) }]
      : [];
  });
}

export const continueCli: SetupClient = {
  name: 'continue',
  title: 'Continue',
  listFiles: ({ origin, key, home, env, read, ownerOf }) => {
    const path = join(env['CONTINUE_GLOBAL_DIR'] ?? join(home, '.continue'), 'config.yaml');
    const models = readModels(read(path, 'yaml'));
    if (models.length === 0)
      throw new OperatorError(
        `${path} has no model of a provider that the gateway serves (${Object.keys(PATHS).join(', ')}); add one first`,
      );
    const foreign = models.filter(({ apiBase }) => ownerOf(apiBase) === 'foreign');
    const edits = models.flatMap(({ name, provider, apiBase }) => {
      const owner = ownerOf(apiBase);
      // A model is found by name and provider: of two that agree in them only the first could be changed.
      if (owner === 'foreign' || foreign.some((one) => one.name === name && one.provider === provider)) return [];
      const usual = { path: PATHS[provider] ?? '', named: NAMED.includes(provider) ? provider : null };
      const led = readLedAddress(apiBase, owner, provider, usual);
      const model = ['models', { name, provider }];
      const headers = [...model, 'requestOptions', 'headers'];
      return [
        { path: [...model, 'apiBase'], value: `${origin}${led.path}/` },
        { path: [...headers, 'X-Gateway-Key'], value: key },
        ...(led.named === null ? [] : [{ path: [...headers, 'X-Gateway-Provider'], value: led.named }]),
      ];
    });
    const left = foreign.map(({ name, apiBase }) => `model "${name}"${atHost(apiBase)}`);
    return [{ path, format: 'yaml', edits, left }];
  },
  notes: ['It sends no id of its session: `tollgate run -- cn` makes a run of each start.'],
};
