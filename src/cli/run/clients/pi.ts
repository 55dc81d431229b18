/** pi has an address in each of its models; an extension of it can change that, for one start. */
import { writeLedAddress } from '../../address-owner.ts';
import { ledProviders } from '../../setup/clients/pi.ts';
import { nameInFile } from '../base-variables.ts';
import { readConfig } from '../file-variables.ts';
import { writeStartFile } from '../start-files.ts';
import { RUN_ADDRESS_VARIABLE, type RunClient } from './run-client.ts';

function writeExtension(addresses: readonly string[]): string {
  return `// Written by \`tollgate run\`.
export default function (pi) {
  const address = process.env.${RUN_ADDRESS_VARIABLE};
  if (address === undefined) return;
  const headers = { 'X-Gateway-Client': 'pi' };
${addresses.join('\n')}
}
`;
}

export const pi: RunClient = {
  programs: ['pi'],
  packageName: '@earendil-works/pi-coding-agent',
  add: ({ ownDir, env, home, traceId, addressOf }) => {
    const { led, left, path: models } = ledProviders({ env, home, addressOf, read: readConfig });
    const lines = led.map(({ name, to }) => {
      const behind = writeLedAddress('', to);
      return `  pi.registerProvider('${name}', { baseUrl: address${behind === '' ? '' : ` + ${JSON.stringify(behind)}`}, headers });`;
    });
    const file = writeStartFile(ownDir, `${traceId}.mjs`, writeExtension(lines));
    return { args: ['-e', file], files: [file], left: left.map((one) => nameInFile(one, models)) };
  },
};
