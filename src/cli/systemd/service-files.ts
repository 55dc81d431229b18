/** The files of a service: places and content, from the options and the machine. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../vocabulary/errors.ts';
import { SECRET_SETTINGS } from '../../vocabulary/secret-settings.ts';
import { formatEnvironmentFile, hasLowPort } from './environment-file.ts';
import type { Machine } from './machine.ts';
import { formatDropIn, formatUnit, type Program, signText } from './unit-text.ts';

export interface ServiceOptions {
  /** Null: the service `tollgate`; else the instance `tollgate@NAME`. */
  readonly name: string | null;
  readonly user: string;
  readonly dataDir: string | null;
  readonly envFile: string | null;
  readonly program: Program;
}

export interface ServicePlaces {
  readonly unit: string;
  readonly unitFile: string;
  readonly dropIn: string;
  readonly sysusersFile: string;
  readonly configDir: string;
  readonly envFile: string;
  readonly credentialsDir: string;
  readonly dataDir: string;
}

export interface ServiceFile {
  readonly path: string;
  readonly mode: number;
  readonly text: string;
  /** The operator's file: once there, it is left alone. The service's user may read it. */
  readonly isTheirs: boolean;
}

export function findPlaces(name: string | null, envFile: string | null, dataDir: string | null): ServicePlaces {
  const key = name ?? 'tollgate';
  const unit = name === null ? 'tollgate' : `tollgate@${name}`;
  const units = '/etc/systemd/system';
  return {
    unit,
    unitFile: join(units, name === null ? 'tollgate.service' : 'tollgate@.service'),
    dropIn: join(units, `${unit}.service.d`, '10-machine.conf'),
    sysusersFile: '/etc/sysusers.d/tollgate.conf',
    configDir: '/etc/tollgate',
    envFile: envFile ?? join('/etc/tollgate', `${key}.env`),
    credentialsDir: join('/etc/tollgate', `${key}.credentials`),
    dataDir: dataDir ?? join('/var/lib', name === null ? 'tollgate' : `tollgate-${name}`),
  };
}

function listCredentials(root: string, dir: string): { readonly name: string; readonly path: string }[] {
  let names: string[];
  try {
    names = readdirSync(join(root, dir));
  } catch {
    // Missing, or unreadable for `--print`.
    names = [];
  }
  const unknown = names.find((name) => !SECRET_SETTINGS.includes(name));
  if (unknown !== undefined)
    throw new OperatorError(
      `${join(dir, unknown)}: only these settings may be files there: ${SECRET_SETTINGS.join(', ')}`,
    );
  return names.sort().map((name) => ({ name, path: join(dir, name) }));
}

export function listServiceFiles(options: ServiceOptions, machine: Machine): readonly ServiceFile[] {
  const { name, user, program } = options;
  const places = findPlaces(name, options.envFile, options.dataDir);
  const envFile = join(machine.root, places.envFile);
  const settings = existsSync(envFile) ? readFileSync(envFile, 'utf8') : '';
  const dropIn = formatDropIn({
    user,
    credentials: listCredentials(machine.root, places.credentialsDir),
    dataDir: options.dataDir,
    envFile: options.envFile,
    hasLowPort: hasLowPort(settings),
  });
  const unit = formatUnit({ program, isTemplate: name !== null });
  return [
    ...(machine.hasUser(user)
      ? []
      : [
          {
            path: places.sysusersFile,
            mode: 0o644,
            isTheirs: false,
            text: signText(`u ${user} - "Tollgate, a gateway for language-model providers" ${places.dataDir}\n`),
          },
        ]),
    {
      path: places.envFile,
      mode: 0o640,
      isTheirs: true,
      text: formatEnvironmentFile(places.unit, places.credentialsDir),
    },
    { path: places.unitFile, mode: 0o644, isTheirs: false, text: unit },
    ...(dropIn === null ? [] : [{ path: places.dropIn, mode: 0o644, isTheirs: false, text: dropIn }]),
  ];
}
