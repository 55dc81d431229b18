/** Continue: address and headers of each model in `config.yaml`. */
import { join } from 'node:path';
import { PROVIDER_NAMES, type ProviderName } from '../../../providers/registry.ts';
import { OperatorError } from '../../../vocabulary/errors.ts';
import { atHost, leadAddress, type UsualAddress } from '../../address-owner.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

/** Continue's names of providers; the address has the version for each. */
const PATHS: Readonly<Partial<Record<ProviderName, string>>> = {
  anthropic: '/v1',
  openai: '/v1',
  gemini: '/v1beta',
  deepseek: '/v1',
  together: '/v1',
  fireworks: '/v1',
};

interface Model {
  readonly name: string;
  readonly usual: UsualAddress;
  readonly apiBase: unknown;
}

function readModels(data: unknown): readonly Model[] {
  const models = valueAt(data, ['models']);
  return (Array.isArray(models) ? models : []).flatMap((model: unknown) => {
    const [name, said] = ['name', 'provider'].map((member) => valueAt(model, [member]));
    const provider = PROVIDER_NAMES.find((one) => one === said);
    const path = provider === undefined ? undefined : PATHS[provider];
    if (typeof name !== 'string' || provider === undefined || path === undefined) return [];
    return [{ name, usual: { provider, path }, apiBase: valueAt(model, ['apiBase']) }];
  });
}

export const continueCli: SetupClient = {
  name: 'continue',
  title: 'Continue',
  listFiles: ({ origin, key, home, env, read, addressOf }) => {
    const path = join(env['CONTINUE_GLOBAL_DIR'] ?? join(home, '.continue'), 'config.yaml');
    const models = readModels(read(path, 'yaml'));
    if (models.length === 0)
      throw new OperatorError(
        `${path} has no model of a provider that the gateway serves (${Object.keys(PATHS).join(', ')}); add one first`,
      );
    const foreign = models.filter(({ apiBase }) => addressOf(apiBase)?.owner === 'foreign');
    const edits = models.flatMap(({ name, usual, apiBase }) => {
      const { provider } = usual;
      const led = leadAddress(addressOf(apiBase), usual);
      // A model is found by name and provider: of two that agree in them only the first could be changed.
      if (led === null || foreign.some((one) => one.name === name && one.usual.provider === provider)) return [];
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
