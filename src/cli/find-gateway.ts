/** Which gateway a command asks, and with which token: flags, then the environment, then `admin.json` of the data directory. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Environment } from '../vocabulary/config.ts';
import { defaultDataDir } from '../vocabulary/default-data-dir.ts';
import { OperatorError, readErrorCode } from '../vocabulary/errors.ts';

export interface GatewayFlags {
  readonly url?: string;
  readonly token?: string;
  readonly dataDir?: string;
}

export interface GatewayPlace {
  readonly url: string;
  readonly token: string;
}

const AdminFile = z.object({ url: z.string(), token: z.string() });

/** A variable that is set to nothing is not set, as for the server. */
function readGiven(env: Environment, name: string): string | undefined {
  return env[name]?.trim() || undefined;
}

export function readDataDir(flag: string | undefined, env: Environment): string {
  return flag ?? readGiven(env, 'TOLLGATE_DATA_DIR') ?? defaultDataDir(env);
}

function readAdminFile(dataDir: string): GatewayPlace {
  const path = join(dataDir, 'admin.json');
  try {
    return AdminFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const code = readErrorCode(cause);
    if (code === 'ENOENT')
      throw new OperatorError(
        `no gateway has run with the data directory ${dataDir}: start one with \`tollgate start\`, or give --data-dir, or --url and --token`,
        { cause },
      );
    if (code === 'EACCES')
      throw new OperatorError(`${path} belongs to another user; run this as the gateway's user`, { cause });
    throw new OperatorError(`${path} is damaged; starting the gateway again mends it`, { cause });
  }
}

/** The first line of the file, as the server reads it. */
function readToken(env: Environment): string | undefined {
  const direct = readGiven(env, 'TOLLGATE_ADMIN_TOKEN');
  const file = readGiven(env, 'TOLLGATE_ADMIN_TOKEN_FILE');
  if (direct !== undefined || file === undefined) return direct;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OperatorError(`TOLLGATE_ADMIN_TOKEN_FILE: cannot read ${file}`, { cause });
  }
  const token = (text.split('\n')[0] ?? '').trim();
  if (token === '') throw new OperatorError(`TOLLGATE_ADMIN_TOKEN_FILE: the first line of ${file} is empty`);
  return token;
}

function requireAddress(text: string, source: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, '');
  throw new OperatorError(`${source}: "${text}" is no address such as http://127.0.0.1:4142`);
}

/** Two names of this machine are one. */
export function originOf(address: string): string {
  const { protocol, hostname, port } = new URL(address);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
  return `${protocol}//${isHere ? 'localhost' : hostname}:${port}`;
}

/** The token of `admin.json` is its own gateway's, and goes to no other address. */
export function findGateway(flags: GatewayFlags, env: Environment): GatewayPlace {
  const given = flags.url ?? readGiven(env, 'TOLLGATE_ADMIN_URL');
  const url = given === undefined ? null : requireAddress(given, flags.url === given ? '--url' : 'TOLLGATE_ADMIN_URL');
  const token = flags.token ?? readToken(env);
  if (url !== null && token !== undefined) return { url, token };
  const found = readAdminFile(readDataDir(flags.dataDir, env));
  if (url === null) return { url: found.url.replace(/\/+$/, ''), token: token ?? found.token };
  if (originOf(url) === originOf(found.url)) return { url, token: found.token };
  throw new OperatorError(
    `${url} needs a token of its own: give --token, TOLLGATE_ADMIN_TOKEN or TOLLGATE_ADMIN_TOKEN_FILE (the one in the data directory is for ${found.url})`,
  );
}
