/**
 * aider: addresses as variables in its `.aider.conf.yml`, with the key in them. Headers it has for single models or for all,
 * and so also for those at other servers.
 */
import { join } from 'node:path';
import { atHost, leadAnyway, type UsualAddress, writeLedAddress } from '../../address-owner.ts';
import { findBaseVariable } from '../../run/base-variables.ts';
import { valueAt } from '../locate.ts';
import type { SetupClient } from '../setup-client.ts';

const VARIABLES = 'set-env';
/** Wins over the variable of that name. */
const OPTION = 'openai-api-base';
const NAMES = ['OPENAI_API_BASE', 'ANTHROPIC_API_BASE', 'GEMINI_API_BASE'];

export const aider: SetupClient = {
  name: 'aider',
  title: 'aider',
  hasKeyInAddress: true,
  listFiles: ({ origin, key, home, read, addressOf }) => {
    const config = join(home, '.aider.conf.yml');
    const data = read(config, 'yaml');
    const former = valueAt(data, [VARIABLES]);
    const pairs = (Array.isArray(former) ? former.map(String) : []).map((text) => {
      const equals = text.indexOf('=');
      return { text, name: text.slice(0, Math.max(0, equals)).trim(), value: text.slice(equals + 1) };
    });
    const lead = (value: unknown, usual: UsualAddress) =>
      writeLedAddress(`${origin}/@${key}`, leadAnyway(addressOf(value), usual));
    const kept = pairs.filter(({ name }) => findBaseVariable(name) === null);
    const said = pairs.filter(({ name }) => findBaseVariable(name) !== null);
    const ours = new Map<string, string>();
    for (const name of [...NAMES, ...said.map((one) => one.name)]) {
      const usual = findBaseVariable(name);
      if (usual !== null) ours.set(name, lead(said.findLast((one) => one.name === name)?.value, usual));
    }
    const option = valueAt(data, [OPTION]);
    const addresses = [...said, ...(option === undefined ? [] : [{ name: OPTION, value: option }])];
    return [
      {
        path: config,
        format: 'yaml',
        edits: [
          {
            path: [VARIABLES],
            value: [...kept.map(({ text }) => text), ...[...ours].map(([name, value]) => `${name}=${value}`)],
          },
          ...(option === undefined
            ? []
            : [{ path: [OPTION], value: lead(option, { provider: 'openai', path: '/v1' }) }]),
        ],
        replaced: addresses
          .filter(({ value }) => addressOf(value)?.owner === 'foreign')
          .map(({ name, value }) => `${name}${atHost(value)}`),
      },
    ];
  },
  notes: [
    'A key of your own has to be allowed in addresses: `tollgate keys edit ID --allow-in-address`.',
    'It sends no id of its session: `tollgate run -- aider` makes a run of each start.',
  ],
};
