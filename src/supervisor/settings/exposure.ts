/** Judges what other machines can reach. It binds nothing. */
import { isIPv4 } from 'node:net';
import type { Config } from '../../vocabulary/config.ts';
import { OperatorError } from '../../vocabulary/errors.ts';

/** Another name may lead anywhere, so it counts as exposed. */
export function isLoopbackHost(host: string): boolean {
  const address = host.toLowerCase().replace(/^::ffff:/, '');
  return address === 'localhost' || address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

function isTls(url: string | null): boolean {
  return url?.startsWith('https://') === true;
}

/** A TLS terminator in front of the proxy port mostly serves both ports. */
function isAdminBehindTls({ adminPublicUrl, publicUrl }: Pick<Config, 'adminPublicUrl' | 'publicUrl'>): boolean {
  return isTls(adminPublicUrl ?? publicUrl);
}

/** A node that only takes calls shows health and, with the token, metrics. */
function hasDashboard({ role }: Pick<Config, 'role'>): boolean {
  return role !== 'proxy';
}

/** The admin port speaks plain HTTP, which shows the admin token, the session and every prompt. */
export function requireAdminExposure(
  config: Pick<Config, 'role' | 'adminHost' | 'adminExposed' | 'adminPublicUrl' | 'publicUrl'>,
  setting: string,
): void {
  if (isLoopbackHost(config.adminHost) || config.adminExposed || isAdminBehindTls(config) || !hasDashboard(config))
    return;
  throw new OperatorError(
    `${setting}: ${JSON.stringify(config.adminHost)} would show dashboard and API, in plain HTTP, to other machines. ` +
      'Put TLS in front and set TOLLGATE_ADMIN_PUBLIC_URL=https://…, or say that it is meant: ' +
      'TOLLGATE_ADMIN_EXPOSED=yes (--admin-exposed), where nothing but a port mapping or a private network can reach it',
  );
}

export function listExposureWarnings(
  config: Pick<Config, 'role' | 'host' | 'adminHost' | 'adminExposed' | 'adminPublicUrl' | 'publicUrl' | 'tls'>,
): string[] {
  const lines: string[] = [];
  if (config.role !== 'control' && !isLoopbackHost(config.host) && !isTls(config.publicUrl) && config.tls === null)
    lines.push(
      `TOLLGATE_HOST: the proxy listens on ${config.host} in plain HTTP: provider credentials, gateway keys and prompts ` +
        'can be read on the way to it. Set TOLLGATE_TLS_CERT and TOLLGATE_TLS_KEY, or put TLS in front and set TOLLGATE_PUBLIC_URL=https://…',
    );
  if (config.role !== 'control' && config.tls !== null && config.publicUrl?.startsWith('http://') === true)
    lines.push(
      'TOLLGATE_PUBLIC_URL: it begins with http://, and the proxy port speaks TLS: clients that use this address get nowhere. Set it to https://…',
    );
  if (hasDashboard(config) && !isLoopbackHost(config.adminHost) && !isAdminBehindTls(config))
    lines.push(
      `TOLLGATE_ADMIN_HOST: dashboard and API listen on ${config.adminHost} in plain HTTP, as TOLLGATE_ADMIN_EXPOSED asks for`,
    );
  return lines;
}
