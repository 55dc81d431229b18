/** pi has an address in each of its models; an extension of it can change that, for one start. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RUN_ADDRESS_VARIABLE, type RunClient } from './run-client.ts';

const EXTENSION = `// Written by \`tollgate run\`.
export default function (pi) {
  const address = process.env.${RUN_ADDRESS_VARIABLE};
  if (address === undefined) return;
  const headers = { 'X-Gateway-Client': 'pi' };
  pi.registerProvider('anthropic', { baseUrl: address, headers });
  pi.registerProvider('openai', { baseUrl: address + '/v1', headers });
  pi.registerProvider('google', { baseUrl: address + '/v1beta', headers });
}
`;

export const pi: RunClient = {
  programs: ['pi'],
  add: ({ ownDir }) => {
    mkdirSync(ownDir, { recursive: true, mode: 0o700 });
    const file = join(ownDir, 'pi-extension.mjs');
    writeFileSync(file, EXTENSION, { mode: 0o600 });
    return { args: ['-e', file] };
  },
};
