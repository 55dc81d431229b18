import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listUnknownSettings } from '../../supervisor/settings/unknown-settings.ts';
import { planInstall, planUninstall, type Step } from './install-steps.ts';
import { readInstalledOptions } from './installed-options.ts';
import type { Machine } from './machine.ts';
import { listServiceFiles, type ServiceOptions } from './service-files.ts';

const OPTIONS: ServiceOptions = {
  name: null,
  user: 'tollgate',
  dataDir: null,
  envFile: null,
  program: { node: '/opt/tollgate/bin/node', entry: '/opt/tollgate/dist/main.js' },
};

let root: string;
let users: Set<string>;
let done: string[];
let machine: Machine;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-service-'));
  users = new Set();
  done = [];
  machine = {
    root,
    hasUser: (name) => users.has(name),
    isOwnedBy: (path, user) => done.includes(`give ${path.slice(root.length)} to ${user} as owner`),
    give: (path, user, as) => done.push(`give ${path.slice(root.length)} to ${user} as ${as}`),
    run: (program, args) => {
      done.push([program, ...args].join(' '));
      if (program === 'systemd-sysusers') users.add('tollgate');
    },
  };
});
afterEach(() => rmSync(root, { recursive: true }));

const tell = (steps: readonly Step[]) => steps.map(({ what }) => what);
const carryOut = (steps: readonly Step[]) => {
  for (const step of steps) step.run();
};
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const install = (options = OPTIONS) => carryOut(planInstall(options, machine, false));

function readPrinted(options: ServiceOptions, ending: string): string {
  return listServiceFiles(options, machine).find(({ path }) => path.endsWith(ending))?.text ?? '';
}

test.each([
  ['tollgate.service', null],
  ['tollgate@.service', 'eu'],
  ['tollgate.env', null],
  ['sysusers.d/tollgate.conf', null],
])('the file deploy/systemd/%s is what the command prints for a program in /opt/tollgate', (file, name) => {
  const folder = join(import.meta.dirname, '../../../deploy/systemd');
  expect(readPrinted({ ...OPTIONS, name }, `/${file}`)).toBe(
    readFileSync(join(folder, file.replace(/.*\//, '')), 'utf8'),
  );
});

test('every setting in the file for settings is one, and none is set', () => {
  const lines = readPrinted(OPTIONS, '/tollgate.env').split('\n');
  const names = lines.flatMap((line) => /^#?([A-Z_]+)=/.exec(line)?.[1] ?? []);
  expect(names).toContain('TOLLGATE_DRAIN_SECONDS');
  expect(listUnknownSettings(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
  expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
});

test('on a new machine it makes user, folders, settings and unit, and says so before', () => {
  const steps = planInstall(OPTIONS, machine, false);
  expect(tell(steps)).toEqual([
    'write   /etc/sysusers.d/tollgate.conf',
    'add     the user tollgate',
    'make    /etc/tollgate',
    'make    /etc/tollgate/tollgate.credentials',
    'write   /etc/tollgate/tollgate.env',
    'write   /etc/systemd/system/tollgate.service',
    'run     systemctl daemon-reload',
  ]);
  expect(readdirSync(root)).toEqual([]);
  carryOut(steps);
  expect(done).toEqual([
    'systemd-sysusers /etc/sysusers.d/tollgate.conf',
    'give /etc/tollgate to tollgate as group',
    'give /etc/tollgate/tollgate.env to tollgate as group',
    'systemctl daemon-reload',
  ]);
  const modes = [
    'tollgate',
    'tollgate/tollgate.credentials',
    'tollgate/tollgate.env',
    'systemd/system/tollgate.service',
  ];
  expect(modes.map((path) => (statSync(join(root, 'etc', path)).mode & 0o777).toString(8))).toEqual([
    '750',
    '700',
    '640',
    '644',
  ]);
});

test('asked again it has nothing to do', () => {
  install();
  expect(tell(planInstall(OPTIONS, machine, false))).toEqual([]);
});

test('settings that somebody has filled in are left as they are', () => {
  install();
  writeFileSync(join(root, 'etc/tollgate/tollgate.env'), 'TOLLGATE_WORKERS=8\n');
  expect(tell(planInstall(OPTIONS, machine, true))).toEqual([]);
});

test('a unit of another release is updated, one that was edited is refused, and replaced only on demand', () => {
  const moved = { ...OPTIONS, program: { ...OPTIONS.program, node: '/usr/bin/node' } };
  install();
  expect(tell(planInstall(moved, machine, false))).toEqual([
    'update  /etc/systemd/system/tollgate.service',
    'run     systemctl daemon-reload',
  ]);
  const unit = join(root, 'etc/systemd/system/tollgate.service');
  writeFileSync(unit, `${readFileSync(unit, 'utf8')}# mine\n`);
  expect(() => planInstall(OPTIONS, machine, false)).toThrow(
    '/etc/systemd/system/tollgate.service was edited or written by somebody else, and nothing was changed: move your changes to `systemctl edit`, then add --replace, which keeps the old file as /etc/systemd/system/tollgate.service.old',
  );
  carryOut(planInstall(OPTIONS, machine, true));
  expect(read('etc/systemd/system/tollgate.service.old')).toContain('# mine');
  expect(read('etc/systemd/system/tollgate.service')).not.toContain('# mine');
});

test('a secret in a file of its own becomes a credential of the service, and no longer when it is gone', () => {
  install();
  writeFileSync(join(root, 'etc/tollgate/tollgate.credentials/DATABASE_URL'), 'postgresql://db.internal/tollgate\n');
  writeFileSync(join(root, 'etc/tollgate/tollgate.credentials/TOLLGATE_OIDC_CLIENT_SECRET'), 'hidden\n');
  install();
  const dropIn = 'etc/systemd/system/tollgate.service.d/10-machine.conf';
  expect(read(dropIn).split('\n').slice(1)).toEqual([
    '[Service]',
    'LoadCredential=DATABASE_URL:/etc/tollgate/tollgate.credentials/DATABASE_URL',
    'Environment=DATABASE_URL_FILE=/run/credentials/%n/DATABASE_URL',
    'LoadCredential=TOLLGATE_OIDC_CLIENT_SECRET:/etc/tollgate/tollgate.credentials/TOLLGATE_OIDC_CLIENT_SECRET',
    'Environment=TOLLGATE_OIDC_CLIENT_SECRET_FILE=/run/credentials/%n/TOLLGATE_OIDC_CLIENT_SECRET',
    '',
  ]);
  rmSync(join(root, 'etc/tollgate/tollgate.credentials/TOLLGATE_OIDC_CLIENT_SECRET'));
  rmSync(join(root, 'etc/tollgate/tollgate.credentials/DATABASE_URL'));
  expect(tell(planInstall(OPTIONS, machine, false))[0]).toBe(`remove  /${dropIn}`);
  install();
  expect(existsSync(join(root, dropIn))).toBe(false);
});

test('a file among the credentials that is no setting is told', () => {
  install();
  writeFileSync(join(root, 'etc/tollgate/tollgate.credentials/DATABSE_URL'), 'x');
  expect(() => planInstall(OPTIONS, machine, false)).toThrow(
    '/etc/tollgate/tollgate.credentials/DATABSE_URL: only these settings may be files there: DATABASE_URL, TOLLGATE_ADMIN_TOKEN, TOLLGATE_METRICS_TOKEN, TOLLGATE_CREDENTIALS_KEY, TOLLGATE_OIDC_CLIENT_SECRET, TOLLGATE_SMTP_URL',
  );
});

test('only a port below 1024 brings a capability', () => {
  install();
  writeFileSync(join(root, 'etc/tollgate/tollgate.env'), '#TOLLGATE_PORT=80\nTOLLGATE_PORT=8443\n');
  expect(readPrinted(OPTIONS, '.conf')).not.toContain('CAP_');
  writeFileSync(join(root, 'etc/tollgate/tollgate.env'), 'TOLLGATE_PORT="443"\n');
  expect(readPrinted(OPTIONS, '10-machine.conf').split('\n').slice(2)).toEqual([
    '# For a port below 1024. In a user namespace of its own the capability would be worth nothing.',
    'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
    'AmbientCapabilities=CAP_NET_BIND_SERVICE',
    'PrivateUsers=no',
    '',
  ]);
});

test('one of several has settings and data of its own, which may lie elsewhere', () => {
  mkdirSync(join(root, 'srv'));
  install({ ...OPTIONS, name: 'eu', dataDir: '/srv/eu', envFile: '/srv/eu.env' });
  expect(done).toContain('give /srv/eu to tollgate as owner');
  expect(existsSync(join(root, 'srv/eu.env'))).toBe(true);
  expect(read('etc/systemd/system/tollgate@.service')).toContain('StateDirectory=tollgate-%i\n');
  expect(read('etc/systemd/system/tollgate@eu.service.d/10-machine.conf').split('\n').slice(1)).toEqual([
    '[Unit]',
    'RequiresMountsFor=/srv/eu',
    '',
    '[Service]',
    'StateDirectory=',
    'Environment=TOLLGATE_DATA_DIR=/srv/eu',
    'ReadWritePaths=/srv/eu',
    'EnvironmentFile=',
    'EnvironmentFile=-/srv/eu.env',
    '',
  ]);
});

test('installed once more without them, it keeps its user, its data directory and its file of settings', () => {
  const told = { ...OPTIONS, name: 'eu', user: 'gate', dataDir: '/srv/eu', envFile: '/srv/eu.env' };
  install(told);
  expect(readInstalledOptions('eu', root)).toEqual({ user: 'gate', dataDir: '/srv/eu', envFile: '/srv/eu.env' });
  expect(readInstalledOptions('us', root)).toEqual({ user: null, dataDir: null, envFile: null });
});

test('another user of one instance is not the user of the others', () => {
  install({ ...OPTIONS, name: 'eu' });
  install({ ...OPTIONS, name: 'us', user: 'gate' });
  expect(read('etc/systemd/system/tollgate@.service')).toContain('\nUser=tollgate\n');
  expect(read('etc/systemd/system/tollgate@us.service.d/10-machine.conf')).toContain('\nUser=gate\n');
});

test('a data directory that is there and empty is given to the user, and one that holds something is not', () => {
  mkdirSync(join(root, 'mnt/disk/lost+found'), { recursive: true });
  install({ ...OPTIONS, dataDir: '/mnt/disk' });
  expect(done).toContain('give /mnt/disk to tollgate as owner');
  mkdirSync(join(root, 'mnt/full/photos'), { recursive: true });
  install({ ...OPTIONS, dataDir: '/mnt/full' });
  expect(done.filter((line) => line.includes('/mnt/full'))).toEqual([]);
  expect(tell(planInstall({ ...OPTIONS, dataDir: '/mnt/disk' }, machine, false))).not.toContain(
    'give    /mnt/disk to tollgate',
  );
});

test('it is removed without its settings and data; an edited file stays under another name', () => {
  install();
  const unit = join(root, 'etc/systemd/system/tollgate.service');
  writeFileSync(unit, `${readFileSync(unit, 'utf8')}# mine\n`);
  carryOut(planUninstall(null, machine));
  expect(done.slice(-2)).toEqual(['systemctl disable --now tollgate', 'systemctl daemon-reload']);
  expect(readdirSync(join(root, 'etc/systemd/system'))).toEqual(['tollgate.service.old']);
  expect(existsSync(join(root, 'etc/tollgate/tollgate.env'))).toBe(true);
  expect(planUninstall(null, machine)).toEqual([]);
});

test('nothing that it made for itself is left: the folder of its differences, and the template with the last instance', () => {
  const units = () => readdirSync(join(root, 'etc/systemd/system'));
  install({ ...OPTIONS, dataDir: '/srv/one' });
  install({ ...OPTIONS, name: 'eu', dataDir: '/srv/eu' });
  install({ ...OPTIONS, name: 'us' });
  carryOut(planUninstall(null, machine));
  expect(units()).toEqual(['tollgate@.service', 'tollgate@eu.service.d']);
  carryOut(planUninstall('eu', machine));
  expect(units()).toEqual(['tollgate@.service']);
  rmSync(join(root, 'etc/tollgate/eu.env'));
  carryOut(planUninstall('us', machine));
  expect(units()).toEqual([]);
});

test('the folder of its differences stays while something of others is in it, and the template while another has one', () => {
  install({ ...OPTIONS, name: 'eu', dataDir: '/srv/eu', envFile: '/srv/eu.env' });
  install({ ...OPTIONS, name: 'us', dataDir: '/srv/us' });
  const folder = join(root, 'etc/systemd/system/tollgate@us.service.d');
  writeFileSync(join(folder, 'override.conf'), '[Service]\nMemoryMax=2G\n');
  carryOut(planUninstall('us', machine));
  expect(readdirSync(folder)).toEqual(['override.conf']);
  expect(existsSync(join(root, 'etc/systemd/system/tollgate@.service'))).toBe(true);
});
