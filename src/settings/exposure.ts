/**
 * What a gateway shows beyond its own machine, and what it says to that: the admin port is refused there unless the
 * operator asked for it, the proxy port gets a warning. Texts and a check of the settings; it binds nothing.
 */
import { isIPv4 } from 'node:net';
import type { Config } from '../config.ts';
import { OperatorError } from '../errors.ts';

/** Names and addresses of this machine only. Another name may lead anywhere, so it counts as exposed. */
export function isLoopbackHost(host: string): boolean {
  const address = host.toLowerCase().replace(/^::ffff:/, '');
  return address === 'localhost' || address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

function isTls(url: string | null): boolean {
  return url?.startsWith('https://') === true;
}

/** What stands in front of the proxy port mostly does so for both. */
function isAdminBehindTls({ adminPublicUrl, publicUrl }: Pick<Config, 'adminPublicUrl' | 'publicUrl'>): boolean {
  return isTls(adminPublicUrl ?? publicUrl);
}

/** That of a node which only takes calls shows health and, to who has the token, figures. */
function hasDashboard({ role }: Pick<Config, 'role'>): boolean {
  return role !== 'proxy';
}

/** The admin port speaks plain HTTP: whoever is on the way reads the admin token, the session and every prompt. */
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

/** One line for each port that other machines reach without TLS. */
export function listExposureWarnings(
  config: Pick<Config, 'role' | 'host' | 'adminHost' | 'adminExposed' | 'adminPublicUrl' | 'publicUrl' | 'tls'>,
): string[] {
  const lines: string[] = [];
  if (config.role !== 'control' && !isLoopbackHost(config.host) && !isTls(config.publicUrl) && config.tls === null)
    lines.push(
      `TOLLGATE_HOST: the proxy listens on ${config.host} in plain HTTP: provider credentials, gateway keys and prompts ` +
        'can be read on the way to it. Set TOLLGATE_TLS_CERT and TOLLGATE_TLS_KEY, or put TLS in front and set TOLLGATE_PUBLIC_URL=https://…',
    );
  if (hasDashboard(config) && !isLoopbackHost(config.adminHost) && !isAdminBehindTls(config))
    lines.push(
      `TOLLGATE_ADMIN_HOST: dashboard and API listen on ${config.adminHost} in plain HTTP, as TOLLGATE_ADMIN_EXPOSED asks for`,
    );
  return lines;
}
