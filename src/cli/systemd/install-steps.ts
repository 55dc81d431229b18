/** Plans the steps of `tollgate service install` and `uninstall`, which are shown and then run in order. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { OperatorError } from '../../vocabulary/errors.ts';
import type { Machine } from './machine.ts';
import { findPlaces, listServiceFiles, type ServiceFile, type ServiceOptions } from './service-files.ts';
import { isUnedited } from './unit-text.ts';

export interface Step {
  readonly what: string;
  readonly run: () => void;
}

function writeWhole(path: string, text: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const temporary = `${path}.new`;
  writeFileSync(temporary, text);
  // Independent of the shell's umask.
  chmodSync(temporary, mode);
  renameSync(temporary, path);
}

/** Null when nothing is to do. Throws for an edited file, unless it is to be replaced. */
function planFile(machine: Machine, user: string, file: ServiceFile, isReplacing: boolean): Step | null {
  const { path, text, mode } = file;
  const onDisk = join(machine.root, path);
  const write = () => {
    writeWhole(onDisk, text, mode);
    if (file.isTheirs) machine.give(onDisk, user, 'group');
  };
  if (!existsSync(onDisk)) return { what: `write   ${path}`, run: write };
  const found = readFileSync(onDisk, 'utf8');
  if (file.isTheirs || found === text) return null;
  if (isUnedited(found)) return { what: `update  ${path}`, run: write };
  if (!isReplacing)
    throw new OperatorError(
      `${path} was edited or written by somebody else, and nothing was changed: move your changes to \`systemctl edit\`, then add --replace, which keeps the old file as ${path}.old`,
    );
  return {
    what: `replace ${path}, and keep the old one as ${path}.old`,
    run: () => {
      renameSync(onDisk, `${onDisk}.old`);
      write();
    },
  };
}

function planDirectory(machine: Machine, path: string, mode: number, give: (path: string) => void): Step | null {
  const onDisk = join(machine.root, path);
  if (existsSync(onDisk)) return null;
  return {
    what: `make    ${path}`,
    run: () => {
      mkdirSync(onDisk, { recursive: true });
      chmodSync(onDisk, mode);
      give(onDisk);
    },
  };
}

/** The folder may exist, such as a disk's root. A non-empty one is left alone: the gateway judges its owner. */
function planDataDirectory(machine: Machine, path: string, user: string): Step | null {
  const onDisk = join(machine.root, path);
  const give = () => machine.give(onDisk, user, 'owner');
  if (!existsSync(onDisk)) return planDirectory(machine, path, 0o700, give);
  const isEmpty = readdirSync(onDisk).every((entry) => entry === 'lost+found');
  if (!isEmpty || machine.isOwnedBy(onDisk, user)) return null;
  return {
    what: `give    ${path} to ${user}`,
    run: () => {
      chmodSync(onDisk, 0o700);
      give();
    },
  };
}

/** An edited file stays under a name that systemd ignores. */
function planRemoval(machine: Machine, path: string): Step | null {
  const onDisk = join(machine.root, path);
  if (!existsSync(onDisk)) return null;
  if (isUnedited(readFileSync(onDisk, 'utf8'))) return { what: `remove  ${path}`, run: () => rmSync(onDisk) };
  return {
    what: `rename  ${path} to ${path}.old, since it was edited`,
    run: () => renameSync(onDisk, `${onDisk}.old`),
  };
}

/** `names`: what of it is removed before; an edited file stays there under another name. */
function planFolderRemoval(machine: Machine, path: string, names: readonly string[]): Step | null {
  const onDisk = join(machine.root, path);
  if (!existsSync(onDisk)) return null;
  const stays = (name: string) => !names.includes(name) || !isUnedited(readFileSync(join(onDisk, name), 'utf8'));
  if (readdirSync(onDisk).some(stays)) return null;
  return { what: `remove  ${path}, which is empty`, run: () => rmdirSync(onDisk) };
}

/** By their settings, which each has from its install on, and by what systemd has of them. */
function hasOtherInstances(machine: Machine, name: string): boolean {
  const list = (path: string) => (existsSync(join(machine.root, path)) ? readdirSync(join(machine.root, path)) : []);
  const own = findPlaces(name, null, null);
  return (
    list(own.configDir).some((entry) => entry.endsWith('.env') && !['tollgate.env', `${name}.env`].includes(entry)) ||
    list(dirname(own.unitFile)).some((entry) => /^tollgate@[^.]/.test(entry) && entry !== basename(dirname(own.dropIn)))
  );
}

function planReload(machine: Machine): Step {
  return { what: 'run     systemctl daemon-reload', run: () => machine.run('systemctl', ['daemon-reload']) };
}

export function planInstall(options: ServiceOptions, machine: Machine, isReplacing: boolean): readonly Step[] {
  const { user } = options;
  const places = findPlaces(options.name, options.envFile, options.dataDir);
  const files = listServiceFiles(options, machine);
  const plan = (file: ServiceFile) => planFile(machine, user, file, isReplacing);
  const steps = [
    ...files.filter(({ path }) => path === places.sysusersFile).map(plan),
    machine.hasUser(user)
      ? null
      : { what: `add     the user ${user}`, run: () => machine.run('systemd-sysusers', [places.sysusersFile]) },
    planDirectory(machine, places.configDir, 0o750, (path) => machine.give(path, user, 'group')),
    planDirectory(machine, places.credentialsDir, 0o700, () => {}),
    ...files.filter(({ path }) => path !== places.sysusersFile).map(plan),
    files.some(({ path }) => path === places.dropIn) ? null : planRemoval(machine, places.dropIn),
    options.dataDir === null ? null : planDataDirectory(machine, options.dataDir, user),
  ].filter((step) => step !== null);
  return steps.length === 0 ? [] : [...steps, planReload(machine)];
}

/** Empty without such a service. Settings, data and the user stay, and the template while another instance may need it. */
export function planUninstall(name: string | null, machine: Machine): readonly Step[] {
  const places = findPlaces(name, null, null);
  if (!existsSync(join(machine.root, places.unitFile))) return [];
  const stop = ['disable', '--now', places.unit];
  return [
    { what: `run     systemctl ${stop.join(' ')}`, run: () => machine.run('systemctl', stop) },
    planRemoval(machine, places.dropIn),
    planFolderRemoval(machine, dirname(places.dropIn), [basename(places.dropIn)]),
    name === null || !hasOtherInstances(machine, name) ? planRemoval(machine, places.unitFile) : null,
    planReload(machine),
  ].filter((step) => step !== null);
}
