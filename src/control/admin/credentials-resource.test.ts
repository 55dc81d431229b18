/** Which aliases may carry a kept credential; that it reaches calls is in test/gateway/credentials.test.ts. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { bareAdminDeps } from '../../../test/support/admin-deps.ts';
import { listSettings } from '../../supervisor/settings/list-settings.ts';
import { readConfig } from '../../supervisor/settings/read-config.ts';
import { createAdminApp } from './admin-app.ts';

const adminToken = 'an-admin-token-of-thirty-two-chars';
const KEYS = {
  TOLLGATE_AWS_BEDROCK_KEYS_REGION: 'eu-west-1',
  TOLLGATE_AWS_BEDROCK_KEYS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  TOLLGATE_AWS_BEDROCK_KEYS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const ENV = {
  ...KEYS,
  TOLLGATE_UPSTREAM_BEDROCK_PLAIN: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
  TOLLGATE_AWS_BEDROCK_REGIONAL_REGION: 'eu-west-1',
  TOLLGATE_AWS_BEDROCK_ROLE_REGION: 'eu-west-1',
  TOLLGATE_AWS_BEDROCK_ROLE_CREDENTIALS: 'ambient',
};

async function setAt(alias: string): Promise<unknown> {
  const settings = listSettings(readConfig({}, ENV), {}, ENV);
  const credentialKeys = { keys: [randomBytes(32).toString('base64')], problem: null };
  const app = createAdminApp(bareAdminDeps({ adminToken, settings, credentialKeys }));
  const answer = await app.request(`http://127.0.0.1:4142/api/v1/credentials/bedrock/${alias}`, {
    method: 'PUT',
    headers: { host: '127.0.0.1:4142', authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ value: 'ABSKQmVkcm9ja0FQSUtleS1leGFtcGxl' }),
  });
  return JSON.parse(await answer.text()).error.code;
}

test('an alias at an AWS address may carry a Bedrock API key, and one that signs may not', async () => {
  // There is no database behind this API: the credential would have been stored.
  expect([await setAt('plain'), await setAt('regional')]).toEqual(['database_unavailable', 'database_unavailable']);
  expect([await setAt('keys'), await setAt('role')]).toEqual(['alias_signs', 'alias_signs']);
});
