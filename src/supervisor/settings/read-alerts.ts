/** Reads where alerts may go: `TOLLGATE_ALERT_HOSTS`, `TOLLGATE_SMTP_URL` and `TOLLGATE_SMTP_FROM`. */
import type { AlertConfig, Environment } from '../../vocabulary/config.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { readSecret } from './read-secret.ts';

const HOST = /^(?:[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?|\[[\da-f:.]+\])$/;
const MAIL = /^[^\s@<>,]+@[^\s@<>,]+$/;
const DEFAULT_FROM = 'tollgate@localhost';

export function readAlerts(env: Environment): AlertConfig {
  const hosts = (env['TOLLGATE_ALERT_HOSTS'] ?? '').split(',').map((host) => host.trim().toLowerCase());
  const named = hosts.filter((host) => host !== '');
  const bad = named.find((host) => !HOST.test(host));
  if (bad !== undefined)
    throw new OperatorError(
      `TOLLGATE_ALERT_HOSTS: ${JSON.stringify(bad)} is no host; write a list, with commas, of names (hooks.internal) and addresses (10.0.0.7, [fd00::7])`,
    );
  const smtpUrl = readSecret('TOLLGATE_SMTP_URL', env);
  const url = smtpUrl === null ? null : URL.parse(smtpUrl);
  // The value may have a password in it, so it is not quoted.
  if (smtpUrl !== null && (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === ''))
    throw new OperatorError(
      'TOLLGATE_SMTP_URL: it must be smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST:465',
    );
  const smtpFrom = env['TOLLGATE_SMTP_FROM']?.trim() || DEFAULT_FROM;
  if (!MAIL.test(smtpFrom))
    throw new OperatorError(
      `TOLLGATE_SMTP_FROM: ${JSON.stringify(smtpFrom)} is no address of mail, such as tollgate@example.com`,
    );
  return { smtpUrl, smtpFrom, hosts: named };
}
